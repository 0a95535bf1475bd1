#include "tests/multiprocess/traffic/random_traffic.h"

#include <exception>
#include <thread>

#include "tests/multiprocess/support/ranks.h"
#include "tests/multiprocess/traffic/receiver.h"
#include "tests/multiprocess/traffic/sender.h"

namespace parley::testing {
namespace {

void exchange_in_threads(Sender& sender, Receiver& receiver) {
  std::exception_ptr failure;
  std::thread sending([&] {
    try {
      sender.send_blocking();
    } catch (...) {
      failure = std::current_exception();
    }
  });
  try {
    receiver.finish();
  } catch (...) {
    sending.detach();  // it may block for good; the process is about to end
    throw;
  }
  sending.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

void exchange_at_random(ProcessGroup& world, const PlanOptions& options, Style style,
                        const TrafficMemory& memory) {
  const auto plan = make_plan(options);
  Sender sender(world, plan, options, memory.out);
  const bool threads = style == Style::threads;
  Receiver receiver(world, plan, options, threads ? Receiver::Mode::wildcards_only : Receiver::Mode::all,
                    memory.in);
  if (threads) {
    exchange_in_threads(sender, receiver);
  } else {
    while (sender.advance())
      if (style == Style::mixed) receiver.advance();
    receiver.finish();
    sender.finish();
  }
  world.barrier();
  expect(!world.iprobe(any_source, {.tag = any_tag}), "a message too many");
}

}  // namespace parley::testing
