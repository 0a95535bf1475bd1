#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/compare/budget.h"

namespace parley::bench::compare {

// Facts to read figures by, in the order in which a person asks for them: processor, cores, memory, kernel,
// compiler, versions of the contenders.
using Facts = std::vector<std::pair<std::string, std::string>>;

// What cannot be told is left out.
Facts describe_machine();

// Each contender that answers to --version, in its words.
Facts describe_versions(const std::vector<Contender>& contenders);

// How fast a plain memcpy runs at this moment, 1e9 bytes a second; nothing in a build with sanitizers, whose
// memcpy says nothing about the machine.
std::optional<double> measure_memcpy();

// "2026-11-21 12:30 UTC"
std::string current_date();

}  // namespace parley::bench::compare
