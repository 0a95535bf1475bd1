#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "api/schedule/entry.h"
#include "api/schedule/team.h"

namespace parley::schedule {

// Barriers: messages without data. Dissemination: in round k everyone tells the one 2^k further, until all
// have heard of all: ceil(log2 P) messages, all ranks alike. As a binomial tree, up and down again: twice
// that. Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, IJPP 17(1), 1988.

// The parts take the steps that have to end before they tell anybody, and return the steps after which all
// that they wait for is there.
using Steps = std::vector<std::uint32_t>;

// At index 0: all members came.
Steps assemble(Builder& builder, const Team& team);
// Index 0 lets all members go, after `before`.
Steps release(Builder& builder, const Team& team, const Steps& before);
// All members came, and told it after `before`.
Steps disseminate(Builder& builder, const Team& team, const Steps& before);

std::span<const Entry> barrier_entries();

}  // namespace parley::schedule
