#pragma once

#include <string>

namespace parley::bench {

// Files that a command line names for reports. A wrong name is known before anything is measured.

// Opens the file for appending. Throws CommandLineError, which names the option, when that cannot be done.
void check_writable(const char* option, const std::string& name);

// Makes the folder, unless it is there. Throws like check_writable().
void make_folder(const char* option, const std::string& name);

// What was there is replaced, or stays before it. Both throw std::runtime_error.
void write_file(const std::string& name, const std::string& text);
void append_to_file(const std::string& name, const std::string& text);

}  // namespace parley::bench
