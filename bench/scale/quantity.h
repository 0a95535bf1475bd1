#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bench/scale/law.h"

namespace parley::bench::scale {

// What one world of ranks is started for.
enum class Stage { start, groups, store, memory, linked, rate, barrier, all_reduce, poll };

// What is measured of it.
enum class Quantity {
  start,
  openmpi_start,
  groups,
  store,
  memory,
  descriptors,
  linked_memory,
  linked_descriptors,
  rate,
  barrier,
  all_reduce,
  poll_one,
  poll_all
};

struct QuantityInfo {
  Quantity quantity;
  std::string_view name;    // in rows
  std::string_view column;  // in the table
  std::string_view label;   // beside its curve
  std::string_view unit;
  bool is_rate = false;  // more is better: its cost is the time of one, in us
  int digits = 0;        // behind the point
};

inline constexpr std::array<QuantityInfo, 13> quantities = {{
    {Quantity::start, "start", "start", "Parley", "ms"},
    {Quantity::openmpi_start, "openmpi_start", "Open MPI", "Open MPI", "ms"},
    {Quantity::groups, "new_group", "group", "new_group", "us"},
    {Quantity::store, "store", "store", "store", "op/s", true},
    {Quantity::memory, "memory", "memory", "linked to nobody", "KiB"},
    {Quantity::descriptors, "descriptors", "fds", "linked to nobody", ""},
    {Quantity::linked_memory, "linked_memory", "linked", "linked to all", "KiB"},
    {Quantity::linked_descriptors, "linked_descriptors", "fds", "linked to all", ""},
    {Quantity::rate, "rate", "rate", "messages", "msg/s", true},
    {Quantity::barrier, "barrier", "barrier", "barrier", "us", false, 1},
    {Quantity::all_reduce, "all_reduce", "reduce", "all_reduce", "us", false, 1},
    {Quantity::poll_one, "poll_one", "poll 1", "linked to one", "ns"},
    {Quantity::poll_all, "poll_all", "poll n-1", "linked to all", "ns"},
}};

const QuantityInfo& info(Quantity quantity) noexcept;

// Of each number of ranks, in ascending order; what could not be measured is absent.
using Series = std::map<int, double>;
using Figures = std::map<Quantity, Series>;

// What is fitted a law to: the value, of a rate the time of one in us; and back.
double cost_of(Quantity quantity, double value) noexcept;
double value_of(Quantity quantity, double cost) noexcept;

// As costs, for which a law is looked for.
std::vector<Point> points_of(Quantity quantity, const Series& series);

// Nothing: not measured.
std::optional<double> figure(const Figures& figures, Quantity quantity, int ranks);

}  // namespace parley::bench::scale
