#pragma once

#include <string>

#include "bench/command_line.h"

namespace parley::bench {

// What a mistaken command line is answered by whoever `parse`s it; "" when it is none.
template <typename Parse>
std::string mistake_of(const Parse& parse) {
  try {
    parse();
  } catch (const CommandLineError& error) {
    return error.what();
  }
  return {};
}

}  // namespace parley::bench
