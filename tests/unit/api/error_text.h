#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>

namespace parley::testing {

// What an action throws as `Error`; anything else is a failure.
template <typename Error, typename Action>
std::string error_text(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another error: " << error.what();
    return {};
  }
  ADD_FAILURE() << "no error";
  return {};
}

}  // namespace parley::testing
