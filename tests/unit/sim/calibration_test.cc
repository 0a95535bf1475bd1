#include "tools/sim/calibration.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/unit/sim/settings.h"
#include "tools/sim/fit.h"
#include "tools/sim/pieces.h"
#include "tools/sim/prediction.h"
#include "tools/sim/quantity.h"

namespace parley::sim {
namespace {

Model hidden_model() {
  Model model = library_model();
  model.near = {200, {{0, 400, 0.2, 0.1}}};
  model.far = {1200, {{0, 3000, 0.1, 0.08}, {65536, 9000, 0.3, 0.25}}};
  model.fold_byte_ns = 0.15;
  model.shared = {{0, 200, 0.06, 0.2}};
  return model;
}

Rows synthetic_rows(const Model& model) {
  Rows rows;
  for (const bool is_shared : {true, false})
    for (const char* op : {"latency", "message-rate", "all_reduce", "broadcast", "all_gather"})
      for (std::uint64_t bytes = 8; bytes <= 4 << 20; bytes *= 4) {
        Row row{op, is_shared, 2, bytes};
        row.ns = predict(model, row);
        rows.rows.push_back(row);
      }
  return rows;
}

TEST(Calibration, FindsThePricesThatMadeTheRows) {
  const Model hidden = hidden_model();
  const Calibration found = calibrate(synthetic_rows(hidden), library_model());
  EXPECT_LT(found.worst_error, 0.01);
  EXPECT_LE(found.median_error, found.worst_error);
  ASSERT_EQ(found.model.far.pieces.size(), 2U);
  // No message of latency is so large: halves of collectives tell.
  EXPECT_EQ(found.model.far.pieces[1].from_bytes, 65536U);
  const auto near = [](double value, double wanted) { EXPECT_NEAR(value / wanted, 1, 0.05) << wanted; };
  near(found.model.near.message_ns, hidden.near.message_ns);
  near(found.model.near.pieces[0].latency_ns, hidden.near.pieces[0].latency_ns);
  near(found.model.near.pieces[0].byte_ns, hidden.near.pieces[0].byte_ns);
  near(found.model.far.message_ns, hidden.far.message_ns);
  near(found.model.far.pieces[0].latency_ns, hidden.far.pieces[0].latency_ns);
  near(found.model.far.pieces[1].byte_ns, hidden.far.pieces[1].byte_ns);
  near(found.model.fold_byte_ns, hidden.fold_byte_ns);
  near(found.model.far.pieces[1].core_byte_ns, hidden.far.pieces[1].core_byte_ns);
  ASSERT_EQ(found.model.shared.size(), 1U);
  near(found.model.shared[0].mark_ns, hidden.shared[0].mark_ns);
  near(found.model.shared[0].byte_ns, hidden.shared[0].byte_ns);
  near(found.model.shared[0].fold_byte_ns, hidden.shared[0].fold_byte_ns);
}

TEST(Calibration, KeepsThePartOfTheOverheadThatNoRowTells) {
  Rows rows = synthetic_rows(hidden_model());
  std::erase_if(rows.rows, [](const Row& row) { return row.op == "message-rate"; });
  const Model start = library_model(), found = calibrate(rows, start).model;
  const auto part = [](const Tier& tier) {
    return tier.message_ns / (tier.message_ns + tier.pieces[0].latency_ns);
  };
  EXPECT_NEAR(part(found.far), part(start.far), 0.05);
  EXPECT_NEAR(part(found.near), part(start.near), 0.05);
}

TEST(Calibration, TellsTheErrorOfEachRow) {
  Rows rows = synthetic_rows(hidden_model());
  rows.rows[3].ns *= 2;
  const Calibration found = calibrate(rows, library_model());
  ASSERT_EQ(found.checks.size(), rows.rows.size());
  EXPECT_GT(found.worst_error, 0.2);
  EXPECT_LT(found.median_error, 0.1);
}

TEST(LeastSquares, StaysAboveZeroAndNearWhatIsKnown) {
  // x = 2, y would be -1 and is 0; nothing is said of z.
  const std::vector<double> a{1, 0, 0, 0, 1, 0}, b{2, -1}, near{1, 1, 7};
  const std::vector<double> x = least_squares(a, b, near);
  EXPECT_NEAR(x[0], 2, 1e-3);
  EXPECT_NEAR(x[1], 0, 1e-9);
  EXPECT_NEAR(x[2], 7, 1e-3);
}

TEST(Pieces, AreAsFewAsMakeStraightLines) {
  std::vector<SizeTime> curve;
  for (std::uint64_t bytes = 8; bytes <= 1 << 20; bytes *= 2)
    curve.push_back({bytes, bytes < 4096 ? 100 + 0.1 * static_cast<double>(bytes)
                                         : 1000 + 0.5 * static_cast<double>(bytes)});
  EXPECT_EQ(find_pieces(curve, 4, 0.02), (std::vector<std::uint64_t>{0, 4096}));
  EXPECT_EQ(find_pieces(curve, 1, 0.02), std::vector<std::uint64_t>{0});
  EXPECT_EQ(find_pieces(curve, 4, 100), std::vector<std::uint64_t>{0});
  EXPECT_EQ(find_pieces({}, 4, 0.02), std::vector<std::uint64_t>{0});
}

std::string row(const std::string& system, const std::string& op, const std::string& more = {}) {
  return R"({"schema":"parley-bench/1","op":")" + op +
         R"(","transport":"shm","ranks":2,"bytes":64,"system":")" + system +
         R"(","median_us":0.5,"core_share":1.0)" + more + "}\n";
}

TEST(Rows, AreThoseOfParleyThatCanBePredicted) {
  std::istringstream text(row("parley", "latency") + row("raw", "latency") + row("parley", "bidirectional") +
                          row("parley", "all_reduce", R"(,"void":"wrong bytes")") + "\n" +
                          row("parley", "all_reduce"));
  const Rows read = read_rows(text, "rows.jsonl");
  ASSERT_EQ(read.rows.size(), 2U);
  EXPECT_EQ(read.rows[1].op, "all_reduce");
  EXPECT_EQ(read.rows[1].ns, 500);
  EXPECT_TRUE(read.rows[1].is_shared);
  EXPECT_EQ(read.left_out,
            (std::vector<std::string>{"1 row left out: bidirectional", "1 row left out: other systems",
                                      "1 row left out: void"}));
}

TEST(Rows, NameTheLineThatIsNone) {
  const auto refused = [](const std::string& content) -> std::string {
    std::istringstream text(content);
    try {
      read_rows(text, "rows.jsonl");
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refused(row("parley", "latency") + "{\n"),
            "--calibrate rows.jsonl:2: is no row of parley-bench --json (parley-bench/1)");
  EXPECT_EQ(refused(row("raw", "latency")),
            "--calibrate rows.jsonl: has no row of Parley that can be predicted");
}

}  // namespace
}  // namespace parley::sim
