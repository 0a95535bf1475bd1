#include "bench/transport_table.h"

#include <gtest/gtest.h>

#include <string>

#include "bench/row.h"

namespace parley::bench {
namespace {

Row row_of(Op op, const std::string& transport, const std::string& system, std::size_t bytes, double us) {
  Row row;
  row.subject = {.op = op, .transport = transport, .bytes = bytes};
  row.system = system;
  row.rounds = 21;
  row.median_us = us;
  row.lo_us = row.hi_us = us;
  row.probe_ns = transport == "shm" ? 60 : 210;
  if (is_windowed(op)) row.mb_per_s = static_cast<double>(bytes) / us;
  return row;
}

std::string add_all(TransportTable& table, const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) text += table.add(to_json(row));
  return text;
}

// Parley and one raw loop, of each transport.
std::vector<Row> rows_of(Op op, std::size_t bytes) {
  std::vector<Row> rows{row_of(op, "shm", "parley", bytes, 0.125), row_of(op, "shm", "raw cell", bytes, 0.05),
                        row_of(op, "tcp", "parley", bytes, 6), row_of(op, "tcp", "raw", bytes, 5)};
  compare_with_limit(rows[0], rows[1]);
  compare_with_limit(rows[2], rows[3]);
  return rows;
}

TEST(TransportTable, BothTransportsShareALine) {
  TransportTable table(Op::latency);
  EXPECT_EQ(
      table.header(),
      "# latency: one way, microseconds; limit: the fastest loop without a library, in the same rounds\n"
      "# Size           shm      limit  x limit  probe_ns         tcp      limit  x limit  probe_ns\n");
  EXPECT_EQ(add_all(table, rows_of(Op::latency, 8)),
            "8              0.125      0.050     2.50        60       6.000      5.000     1.20       210\n");
}

TEST(TransportTable, ALineComesWithTheLastRowOfItsSize) {
  TransportTable table(Op::bandwidth);
  std::vector<Row> rows = rows_of(Op::bandwidth, 6000);
  const Row last = rows.back();
  rows.pop_back();
  EXPECT_EQ(add_all(table, rows), "");
  EXPECT_EQ(table.add(to_json(last)),
            "6000           48000     120000     0.40        60        1000       1200     0.83       210\n");
  EXPECT_EQ(add_all(table, rows_of(Op::bandwidth, 600)),
            "600             4800      12000     0.40        60         100        120     0.83       210\n");
}

TEST(TransportTable, MessageRateHasNoLimitOverTcp) {
  TransportTable table(Op::message_rate);
  std::vector<Row> rows = rows_of(Op::message_rate, 8);
  rows[2].limit_mb_per_s = rows[2].ratio_to_limit = std::nullopt;
  EXPECT_EQ(add_all(table, rows),
            "8              8.000     20.000     0.40        60       0.167          -        -       210\n");
}

TEST(TransportTable, NotesNameTheirTransport) {
  TransportTable table(Op::latency);
  std::vector<Row> rows = rows_of(Op::latency, 8);
  rows[1].core_share = 0.5;
  rows[1].void_reason = "cold";
  rows[0].void_reason = "cold";
  rows[2].rounds = 19;
  rows[2].rounds_left_out = 2;
  const std::string text = add_all(table, rows);
  EXPECT_EQ(text.substr(text.find('\n') + 1),
            "# shm: DISTURBED: a rank had its core for as little as 50 %; do not use these lines\n"
            "# shm: VOID: cold; do not use these lines\n"
            "# tcp: 2 of 21 rounds left out: something else used the core of a rank\n");
}

TEST(TransportTable, ATransportThatFailedHasNoFigures) {
  TransportTable table(Op::latency);
  std::vector<Row> rows = rows_of(Op::latency, 8);
  rows.erase(rows.begin(), rows.begin() + 2);
  EXPECT_EQ(add_all(table, rows),
            "8                  -          -        -         -       6.000      5.000     1.20       210\n");
}

}  // namespace
}  // namespace parley::bench
