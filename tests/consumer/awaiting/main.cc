// Coroutines and Asio in a program of one's own.
#include <parley/asio.h>
#include <parley/coroutine.h>
#include <parley/parley.h>

#include <asio/bind_executor.hpp>
#include <atomic>
#include <iostream>

struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

Task receive(parley::ProcessGroup world, int& value, std::atomic<bool>& done) {
  co_await world.irecv(value, 1, {.tag = 1});
  done = true;
}

int main() {
  parley::ProcessGroup world = parley::init();
  if (world.rank() == 1) {
    world.send(7, 0, {.tag = 1});
    world.send(8, 0, {.tag = 2});
    world.barrier();
    return 0;
  }
  int awaited = 0;
  std::atomic<bool> done{false};
  receive(world, awaited, done);

  asio::io_context context;
  int handled = 0;
  parley::async_wait(world.irecv(handled, 1, {.tag = 2}),
                     asio::bind_executor(context, [](const std::exception_ptr&, parley::RecvStatus) {}));
  context.run();
  world.barrier();  // messages of one rank do not overtake each other: the first is here, too
  while (!done) world.progress();
  std::cout << "a coroutine got " << awaited << ", a handler got " << handled << "\n";
}
