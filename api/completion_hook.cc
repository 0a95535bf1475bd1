#include "api/completion_hook.h"

#include <optional>
#include <utility>

#include "api/group_state.h"
#include "transport/base/log.h"

namespace parley::detail {

using transport::Messenger;
using transport::Request;
using transport::RequestState;

namespace {

// Lives from attach() until its function was called. The world outlives it: an engine that goes ends every
// request and runs what is deferred.
struct Hook final : transport::Deferred {
  wireup::World* world = nullptr;
  FailedOperation description;
  std::function<void(std::exception_ptr)> fn;
  std::optional<FailureFacts> facts;
  std::shared_ptr<const OpenContexts> contexts;  // a group is not left before its operations have ended
  std::unique_ptr<Hook> also;  // of detach() after then(): called next, with the same outcome

  void run() noexcept override {
    const std::unique_ptr<Hook> owned(this);
    call();
  }
  void call() noexcept {
    try {
      fn(facts ? to_exception(*world, *facts, wireup::Asker::completion_function) : nullptr);
    } catch (const std::exception& error) {
      PARLEY_LOG(error, "p2p", "a completion function threw: ", error.what());
    } catch (...) {
      PARLEY_LOG(error, "p2p", "a completion function threw an exception that is no std::exception");
    }
    if (also == nullptr) return;
    also->facts = facts;
    also->call();
  }
};

void note_facts(Hook& hook, const Request& request, Messenger& messenger) noexcept {
  if (request.status.ok()) return;
  try {
    hook.facts = facts_of(hook.description, request, messenger);
  } catch (const std::bad_alloc&) {
    hook.facts.emplace();
    hook.facts->status = request.status;
  }
}

// With the lock held: only notes what there is to tell, and has it told later.
void on_done(Request& request) noexcept {
  auto* hook = static_cast<Hook*>(request.user);
  note_facts(*hook, request, *static_cast<Messenger*>(request.owner));
  hook->world->engine->defer(*hook);
}

bool attach_hook(Operation& operation, std::function<void(std::exception_ptr)> fn, bool release) {
  auto hook = std::make_unique<Hook>();
  hook->world = operation.world;
  hook->description = operation.description;
  hook->fn = std::move(fn);
  if (operation.keeps_group != nullptr) hook->contexts = operation.keeps_group->contexts;
  bool call_now = false;
  bool attached = true;
  operation.world->engine->locked([&](Messenger& messenger) {
    Request& request = *operation.request;
    const bool taken = request.on_done != nullptr;
    if (taken && !release) {
      attached = false;
    } else if (request.state == RequestState::done) {
      note_facts(*hook, request, messenger);
      call_now = true;
    } else if (taken) {
      static_cast<Hook*>(request.user)->also = std::move(hook);
    } else {
      request.user = hook.release();
    }
    if (attached) request.on_done = on_done;
    if (release) {
      operation.request = nullptr;
      messenger.release(request);
    }
  });
  if (call_now) hook->call();
  return attached;
}

}  // namespace

bool attach(Operation& operation, std::function<void(std::exception_ptr)> fn) {
  return attach_hook(operation, std::move(fn), false);
}

void attach_and_release(Operation& operation, std::function<void(std::exception_ptr)> fn) {
  attach_hook(operation, std::move(fn), true);
}

}  // namespace parley::detail
