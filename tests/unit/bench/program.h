#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace parley::bench {

// A file name that goes away at the end.
class RowFile {
 public:
  RowFile() : path_(::testing::TempDir() + "parley-bench-" + std::to_string(::getpid()) + ".jsonl") {}
  ~RowFile() { std::remove(path_.c_str()); }
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::vector<nlohmann::json> rows() const {
    std::vector<nlohmann::json> rows;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) rows.push_back(nlohmann::json::parse(line));
    return rows;
  }

 private:
  std::string path_;
};

// Runs parley-bench to its end, in no launcher's world unless `environment` makes one; its exit code.
int run_bench(const std::string& arguments, const std::string& environment = {});

}  // namespace parley::bench
