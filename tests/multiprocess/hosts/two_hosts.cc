#include "tests/multiprocess/hosts/two_hosts.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

#include "api/launch/pipe.h"

namespace parley::testing {
namespace {

using launch::testing::Command;

// Returns when the test has died or ends this process. Says through the pipe whether there is a namespace:
// one byte, the errno.
[[noreturn]] void hold(const std::string& name, pid_t test, int answer) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != test) _exit(1);
  char reason = 0;
  if (unshare(CLONE_NEWNET | CLONE_NEWUTS) != 0 || sethostname(name.data(), name.size()) != 0)
    reason = static_cast<char>(errno);
  if (write(answer, &reason, 1) != 1) _exit(1);
  for (;;) pause();
}

void run(const std::vector<std::string>& words) {
  Command command(words);
  const int code = command.finish();
  if (code == 0) return;
  std::string line;
  for (const std::string& word : words) line += word + ' ';
  throw std::runtime_error(line + "ended with " + std::to_string(code) + ": " + command.output() +
                           command.errors() + "(needs iproute2 and util-linux)");
}

}  // namespace

NamespaceHost::NamespaceHost(const std::string& name) {
  launch::Pipe answer = launch::make_pipe();
  const pid_t test = getpid();
  pid_ = fork();
  if (pid_ == 0) hold(name, test, answer.write.get());
  answer.write.reset();
  char reason = EIO;
  if (pid_ < 0 || read(answer.read.get(), &reason, 1) != 1 || reason != 0) {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    throw std::runtime_error(std::string("this test makes network namespaces, which this user may not do (") +
                             std::strerror(reason) +
                             "): run it as root, or in a container with CAP_SYS_ADMIN");
  }
  ip({"link", "set", "lo", "up"});
}

NamespaceHost::~NamespaceHost() {
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

std::vector<std::string> NamespaceHost::on(const std::vector<std::string>& command) const {
  std::vector<std::string> words{"nsenter", "--target", std::to_string(pid_), "--net", "--uts", "--"};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

void NamespaceHost::ip(const std::vector<std::string>& arguments) const {
  std::vector<std::string> words{"ip"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  run(on(words));
}

void NamespaceHost::set_up(const std::string& interface, const std::vector<std::string>& addresses) const {
  // Link-local addresses are of the test's choice, and none waits until duplicates are ruled out.
  ip({"link", "set", interface, "addrgenmode", "none"});
  for (const std::string& address : addresses) {
    std::vector<std::string> words{"addr", "add", address, "dev", interface};
    if (address.find(':') != std::string::npos) words.emplace_back("nodad");
    ip(words);
  }
  ip({"link", "set", interface, "up"});
}

void TwoHosts::join(const std::string& interface_of_a, const std::vector<std::string>& addresses_of_a,
                    const std::string& interface_of_b, const std::vector<std::string>& addresses_of_b) const {
  a.ip({"link", "add", interface_of_a, "type", "veth", "peer", "name", interface_of_b, "netns",
        std::to_string(b.pid())});
  a.set_up(interface_of_a, addresses_of_a);
  b.set_up(interface_of_b, addresses_of_b);
}

}  // namespace parley::testing
