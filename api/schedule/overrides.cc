#include "api/schedule/overrides.h"

#include <algorithm>
#include <string>
#include <utility>

#include "api/schedule/names.h"

namespace parley::schedule {
namespace {

base::Failure failure(std::string_view part, std::string why) {
  return {base::Code::invalid_argument, '"' + std::string(part) + "\": " + std::move(why)};
}

}  // namespace

base::Result<Overrides> parse_overrides(std::string_view text) {
  Overrides overrides;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos)
      return failure(part, "write operation=algorithm, as in all_reduce=ring");
    const std::string_view left = part.substr(0, equals), right = part.substr(equals + 1);
    const auto operation = find_operation(left);
    if (!operation)
      return failure(part,
                     "no operation is called " + std::string(left) + "; there are " + list_operations());
    const auto algorithm = find_algorithm(right);
    if (!algorithm || !has_algorithm(*operation, *algorithm))
      return failure(part, std::string(left) + " has no algorithm called " + std::string(right) +
                               "; there are " + list_algorithms(*operation));
    if (overrides.of(*operation)) return failure(part, std::string(left) + " is there twice");
    overrides.set(*operation, *algorithm);
  }
  return overrides;
}

}  // namespace parley::schedule
