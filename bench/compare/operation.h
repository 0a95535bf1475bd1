#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/op.h"

namespace parley::bench::compare {

// What a person looks at, made of an operation's microseconds.
enum class Figure {
  time,       // microseconds; less is better
  bandwidth,  // MB/s, 1e6 bytes; more is better
  rate,       // millions of messages a second; more is better
};

// An operation as every contender calls it.
struct Operation {
  std::string_view name;
  Figure figure = Figure::time;
  bool has_sizes = true;
  std::string_view what;  // for tables and charts
};

// All of them, in the order of tables.
std::span<const Operation> all_operations() noexcept;

// Their names, for messages.
std::vector<std::string_view> operation_names();

// REQUIRES: one of the names.
const Operation& operation(std::string_view name);

// What the measuring programs call it. REQUIRES: one of the names.
Op op_named(std::string_view name);

// What one figure is of: all systems are asked for the same cases.
struct Case {
  std::string op;
  std::string transport;  // "tcp", "shm"
  int ranks = 2;
  bool rewritten = false;  // the senders' buffers, before each exchange
  bool arena = false;      // Parley's buffers lie in its arena, the peers' anywhere

  auto operator<=>(const Case&) const = default;
};

// "shm, 2 ranks, buffers kept"
std::string setting_of(const Case& where);
// "latency, shm, 2 ranks, buffers kept"
std::string title_of(const Case& where);
// "latency-shm-2-kept": a file's name, a place in a page.
std::string slug_of(const Case& where);

// The figure of a time.
double figure_of(Figure figure, std::size_t bytes, double us) noexcept;

// "MB/s"
std::string_view unit_of(Figure figure) noexcept;

// The value of a tick with its unit, as figures/axis.h has it: "200 ns", "1 GB/s", "5 M/s".
std::string tick_label(Figure figure, double value);

// Three or four significant digits, never an exponent: "0.213", "5.62", "18.4", "10523".
std::string format_figure(double value);

// "1 line", "2 lines"; with "launches" for more than one launch.
std::string counted(std::size_t count, std::string_view what, std::string_view several = {});

}  // namespace parley::bench::compare
