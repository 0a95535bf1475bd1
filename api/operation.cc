#include "api/operation.h"

#include <parley/error.h>

#include <array>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "transport/base/log.h"

namespace parley::detail {

using transport::Messenger;
using transport::Request;
using transport::RequestKind;
using transport::RequestState;

namespace {

// Freed operations of this thread. The flag outlives the list, for operations freed during thread exit.
thread_local bool spares_closed = false;
struct Spares {
  std::array<void*, 256> items{};
  std::size_t count = 0;
  ~Spares() {
    spares_closed = true;
    while (count > 0) ::operator delete(items[--count]);
  }
};
thread_local Spares spares;

RecvStatus status_of(const Request& request) {
  const bool is_send = request.kind == RequestKind::send;
  return {static_cast<int>(is_send ? request.peer->number : request.envelope.source), request.envelope.tag,
          request.message_bytes};
}

}  // namespace

void* Operation::operator new(std::size_t bytes) {
  if (!spares_closed && spares.count > 0) return spares.items[--spares.count];
  return ::operator new(bytes);
}

void Operation::operator delete(void* memory) noexcept {
  if (!spares_closed && spares.count < spares.items.size())
    spares.items[spares.count++] = memory;
  else
    ::operator delete(memory);
}

RecvStatus finish(Operation& operation) {
  RecvStatus status;
  std::optional<FailureFacts> facts;
  operation.world->engine->locked([&](Messenger& messenger) {
    Request& request = *operation.request;
    if (request.status.ok())
      status = status_of(request);
    else
      facts = facts_of(operation.description, request, messenger);
    operation.request = nullptr;
    messenger.release(request);
  });
  if (facts) std::rethrow_exception(to_exception(*operation.world, *facts));
  return status;
}

RecvStatus finish_within(Operation& operation, std::chrono::nanoseconds timeout) {
  if (!operation.world->engine->wait(*operation.request, timeout))
    std::rethrow_exception(wait_timed_out(operation, timeout));
  return finish(operation);
}

void settle(Operation& operation) noexcept {
  if (operation.request == nullptr || operation.world->engine->in_forked_child()) return;
  transport::Engine& engine = *operation.world->engine;
  try {
    const bool unwinding = std::uncaught_exceptions() > 0;
    engine.locked([&](Messenger& messenger) {
      // An unmatched send is taken back during an exception only: else the peer shall get it. Waiting for it
      // then would have two ranks that both unwind wait for each other.
      if (unwinding || operation.request->state == RequestState::posted)
        messenger.cancel(*operation.request, base::Code::cancelled);
    });
    if (!engine.wait(*operation.request, unwinding ? wireup::default_linger : no_timeout)) {
      engine.abort_context(operation.description.context,
                           "a pending operation was dropped during an exception");
      engine.wait(*operation.request, no_timeout);
    }
    engine.locked(
        [&](Messenger& messenger) { messenger.release(*std::exchange(operation.request, nullptr)); });
  } catch (const std::exception& error) {
    PARLEY_LOG(error, "p2p", "while dropping an operation: ", error.what());
  }
}

std::exception_ptr wait_timed_out(const Operation& operation, std::chrono::nanoseconds timeout) {
  FailureFacts facts = operation.world->engine->locked([&](Messenger& messenger) {
    return facts_of(operation.description, base::Code::timed_out, messenger);
  });
  facts.elapsed = timeout;
  facts.extra = facts.extra.empty() ? "the operation is still pending"
                                    : "the operation is still pending; " + facts.extra;
  return to_exception(*operation.world, facts);
}

void require_own_process(const wireup::World& world) {
  if (!world.engine->in_forked_child()) return;
  ErrorDetails details;
  details.rank = world.rank;
  throw ForkedError("Parley cannot be used in a forked child: the world belongs to the parent process",
                    details);
}

}  // namespace parley::detail
