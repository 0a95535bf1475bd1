#pragma once

#include <csignal>
#include <optional>

#include "transport/base/unique_fd.h"

namespace parley::launch {

// Turns SIGINT, SIGTERM and SIGHUP into something to read, for a program that is nothing but a launcher. The
// library itself never makes one: a process's signals belong to its program.
//
// A signal that was ignored at the start (nohup, a background job of a shell) stays ignored.
class SignalSource {
 public:
  struct Signal {
    int number;
    bool from_terminal;  // the terminal sent it, to the whole foreground process group
  };

  // Blocks the signals, and gives SIGCHLD its default disposition, without which no exit status can be had.
  // REQUIRES: one thread. Throws SystemError.
  SignalSource();
  ~SignalSource();
  SignalSource(const SignalSource&) = delete;
  SignalSource& operator=(const SignalSource&) = delete;

  // Readable when next() has something.
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  std::optional<Signal> next() noexcept;

  // In a forked child: puts the signal mask back. Dispositions were not changed.
  void restore_in_child() const noexcept;

 private:
  sigset_t before_{};
  base::UniqueFd fd_;
};

}  // namespace parley::launch
