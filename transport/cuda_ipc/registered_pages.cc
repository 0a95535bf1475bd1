#include "transport/cuda_ipc/registered_pages.h"

#include "transport/cuda_ipc/counted_uses.h"

namespace parley::transport::cuda_ipc {
namespace {

struct Page {
  cuda::Api* api;
  void* memory;
  int device;  // with which it was registered
};

CountedUses<Page>& pages() {
  static auto& all = *new CountedUses<Page>;
  return all;
}

auto is(const cuda::Api& api, const void* memory) noexcept {
  return [&api, memory](const Page& page) { return page.api == &api && page.memory == memory; };
}

}  // namespace

cuda::Code register_page(cuda::Api& api, void* page, int device) noexcept {
  Page registered{&api, page, device};
  return pages().acquire(registered, is(api, page),
                         [](Page& made) { return made.api->register_host(made.memory, page_bytes); });
}

void unregister_page(cuda::Api& api, void* page) noexcept {
  pages().release(is(api, page), [](const Page& registered) {
    const cuda::DeviceScope scope(*registered.api, registered.device);
    (void)registered.api->unregister_host(registered.memory);
  });
}

}  // namespace parley::transport::cuda_ipc
