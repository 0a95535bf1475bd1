#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/contract/store/temporary_folder.h"

namespace parley::base {

// A test with a directory that stands for the root of a host.
class HostRoot : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

 private:
  const test::TemporaryFolder folder_;

 protected:
  const std::string& root_ = folder_.path();
};

}  // namespace parley::base
