// One rank of two on two hosts, for tests of what lies between them. Says what happens to it, a line each:
// "linked", "round N" every now and then, "lost: TEXT".
//   link_probe wait     rank 0 and rank 1 wait for each other's message, which never comes
//   link_probe late     they wait for the file STOP_FILE before they need each other for the first time
//   link_probe stream   they exchange 1 MiB again and again, until the file STOP_FILE is there
#include <parley/parley.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// Both stop in the same round: rank 0 decides.
void stream(parley::ProcessGroup& world, const char* stop_file) {
  const int other = 1 - world.rank();
  const std::vector<std::byte> out(std::size_t{1} << 20, std::byte{5});
  std::vector<std::byte> in(out.size());
  auto last_said = std::chrono::steady_clock::now();
  bool stop = false;
  for (int round = 1; !stop; ++round) {
    world.sendrecv(out, other, in, other);
    if (in != out) return say("wrong bytes");
    stop = world.rank() == 0 && access(stop_file, F_OK) == 0;
    if (world.rank() == 0)
      world.send(stop, other, {.tag = 1});
    else
      stop = world.recv<bool>(other, {.tag = 1});
    const auto now = std::chrono::steady_clock::now();
    if (now - last_said < std::chrono::milliseconds(100)) continue;
    say("round " + std::to_string(round));
    last_said = now;
  }
  say("done");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const char* stop_file = std::getenv("STOP_FILE");
  std::optional<parley::ProcessGroup> joined;  // the loss is told before the world is left
  try {
    parley::ProcessGroup& world = joined.emplace(parley::init());
    if (what == "late") {
      say("joined");
      while (stop_file != nullptr && access(stop_file, F_OK) != 0) usleep(10'000);
      say("begun");
    } else {
      world.barrier();
      say("linked");
    }
    if (what == "wait" || what == "late")
      (void)world.recv<int>(1 - world.rank());
    else if (what == "stream" && stop_file != nullptr)
      stream(world, stop_file);
    else
      return 97;
  } catch (const parley::PeerDiedError& error) {
    say("lost: rank " + std::to_string(error.details().culprit) + ": " + error.what());
    _exit(0);  // there is nobody to say goodbye to
  }
  return 0;
}
