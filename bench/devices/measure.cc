#include "bench/devices/measure.h"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <vector>

#include "bench/devices/device_library.h"
#include "bench/devices/figures.h"
#include "bench/devices/rank_device.h"
#include "bench/library_session.h"
#include "bench/table.h"
#include "transport/cuda/runtime.h"

namespace parley::bench {
namespace {

int device_of(cuda::Api& api, const ProcessGroup& group) {
  return group.local_rank() % api.device_count();
}

// `group`: whose collectives they are.
std::string lines_of(const ProcessGroup& group, const std::vector<Row>& rows) {
  const Subject& subject = rows.front().subject;
  if (!is_collective(subject.op)) return device_lines(rows);
  std::string text =
      "# " + group.describe_plan(to_string(subject.op), subject.bytes, {.on_devices = true}) + '\n';
  for (const Row& row : rows) text += collective_line(row);
  return text;
}

}  // namespace

cuda::Api& require_devices() {
  cuda::Api* const api = cuda::runtime();
  if (api == nullptr) throw CommandLineError("--device cuda: " + cuda::reason_against());
  return *api;
}

std::string describe_devices(cuda::Api& api, const ProcessGroup& group, const DeviceChoice& choice) {
  return fmt::format("{} ({}, {})", to_string(choice), api.device_name(device_of(api, group)), api.version());
}

void measure_on_devices(cuda::Api& api, ProcessGroup& group, const Options& options, Idle idle,
                        Report* report) {
  RankDevice device(api, device_of(api, group));
  DeviceLibrary library(group, options, device);
  LibrarySession session(library, options, idle);
  const bool is_call = is_collective(options.op);
  if (report != nullptr) report->print(is_call ? collective_header(true) : device_header(options.op));
  std::size_t wrong = 0;
  for (const std::size_t bytes : options.sizes) {
    std::optional<std::vector<Row>> rows = session.measure(bytes);
    if (!rows) continue;
    compare_with_limit(*rows);
    report->print(lines_of(library.own_group(), *rows));
    for (const Row& row : *rows) {
      report->add_json(row);
      wrong += row.wrong.value_or(0);
    }
  }
  if (wrong > 0) throw std::runtime_error(std::to_string(wrong) + " elements are wrong");
}

}  // namespace parley::bench
