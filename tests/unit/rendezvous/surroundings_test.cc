#include "rendezvous/surroundings.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "transport/base/unique_fd.h"

namespace parley::rendezvous {
namespace {

// What the process that inherits `fd` calls its maker.
std::string maker_in_child(int fd) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return "no pipe";
  const base::UniqueFd reader(pipe_ends[0]);
  base::UniqueFd writer(pipe_ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    const std::string name = own_surroundings().maker_of_socket(fd).value_or("");
    _exit(write(writer.get(), name.data(), name.size()) == static_cast<ssize_t>(name.size()) ? 0 : 1);
  }
  writer.reset();
  char text[256];
  const ssize_t size = read(reader.get(), text, sizeof(text));
  int status = 0;
  waitpid(child, &status, 0);
  return {text, static_cast<std::size_t>(size > 0 ? size : 0)};
}

TEST(Surroundings, WhoInheritsASocketNamesItsMaker) {
  int first[2];
  int second[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, first), 0);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, second), 0);
  const base::UniqueFd fds[] = {base::UniqueFd(first[0]), base::UniqueFd(first[1]), base::UniqueFd(second[0]),
                                base::UniqueFd(second[1])};
  const std::string name = maker_in_child(first[0]);
  EXPECT_TRUE(name.starts_with(std::to_string(getpid()) + "/")) << name;
  EXPECT_GT(name.size(), std::to_string(getpid()).size() + 1) << "the time of its start";
  EXPECT_EQ(maker_in_child(second[1]), name);
}

TEST(Surroundings, WhatIsNoSuchSocketHasNoMaker) {
  const Surroundings around = own_surroundings();
  EXPECT_FALSE(around.maker_of_socket(-1).has_value());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const base::UniqueFd reader(ends[0]);
  const base::UniqueFd writer(ends[1]);
  EXPECT_FALSE(around.maker_of_socket(ends[0]).has_value());
}

}  // namespace
}  // namespace parley::rendezvous
