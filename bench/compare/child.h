#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace parley::bench::compare {

// How a child ended.
struct ChildEnd {
  enum class How {
    exited,       // by itself, with `code`
    killed,       // by signal `code`
    too_late,     // at its deadline, by us
    interrupted,  // because this program was told to end
    not_started,  // `said` tells why
  };
  How how = How::exited;
  int code = 0;
  std::string output;  // the last 4 KiB of its stdout
  std::string said;    // the last 4 KiB of its stderr
  double seconds = 0;
};

// Runs a program to its end, in a process group of its own that ends with it, without a launcher's variables
// and without a terminal. The child dies with this program. At the deadline, or when this program is told to
// end, the group is asked to end (SIGTERM), and killed three seconds later. `tick` is called about every half
// second.
ChildEnd run_child(const std::vector<std::string>& command, std::chrono::duration<double> deadline,
                   const std::function<void()>& tick = {});

// While it lives, SIGINT, SIGTERM and SIGHUP do not end this program but its children, and are remembered.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // The first one that came; 0: none, or no watch.
  static int seen() noexcept;
};

// The last line in which something is written, without its end: a program's last words.
std::string last_words(const std::string& said);

}  // namespace parley::bench::compare
