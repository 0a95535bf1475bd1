#include "bench/report_files.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "bench/command_line.h"

namespace parley::bench {
namespace {

void write(const std::string& name, const std::string& text, std::ios::openmode mode) {
  std::ofstream file(name, mode);
  file << text << std::flush;
  if (!file) throw std::runtime_error("writing " + name + " failed (is the disk full?)");
}

}  // namespace

void check_writable(const char* option, const std::string& name) {
  errno = 0;
  const std::ofstream file(name, std::ios::app);
  if (file) return;
  throw CommandLineError(std::string(option) + ": cannot write " + name + ": " +
                         std::generic_category().message(errno));
}

void make_folder(const char* option, const std::string& name) {
  std::error_code error;
  std::filesystem::create_directories(name, error);
  if (error)
    throw CommandLineError(std::string(option) + ": cannot make the folder " + name + ": " + error.message());
}

void write_file(const std::string& name, const std::string& text) {
  write(name, text, std::ios::trunc);
}

void append_to_file(const std::string& name, const std::string& text) {
  write(name, text, std::ios::app);
}

}  // namespace parley::bench
