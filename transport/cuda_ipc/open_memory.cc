#include "transport/cuda_ipc/open_memory.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

namespace parley::transport::cuda_ipc {
namespace {

struct Open {
  cuda::Api* api;
  cuda::MemoryHandle handle;
  std::byte* base;
  std::size_t users;
};

struct Table {
  std::mutex mutex;
  std::vector<Open> entries;
  std::uint64_t closings = 0;
};

// Never destroyed: links may end while the process does.
Table& table() {
  static auto* const the_table = new Table;
  return *the_table;
}

}  // namespace

cuda::Code acquire(cuda::Api& api, const cuda::MemoryHandle& handle, std::byte*& base) noexcept try {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  for (Open& open : all.entries) {
    if (open.api != &api || open.handle != handle) continue;
    ++open.users;
    base = open.base;
    return cuda::Code::ok;
  }
  all.entries.reserve(all.entries.size() + 1);
  const cuda::Code code = api.import_memory(handle, base);
  if (code == cuda::Code::ok) all.entries.push_back({&api, handle, base, 1});
  return code;
} catch (const std::bad_alloc&) {
  return cuda::Code::out_of_memory;
}

void release(cuda::Api& api, std::byte* base) noexcept {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  const auto found = std::find_if(all.entries.begin(), all.entries.end(),
                                  [&](const Open& open) { return open.api == &api && open.base == base; });
  if (--found->users != 0) return;
  (void)api.close_memory(base);
  all.entries.erase(found);
  ++all.closings;
}

std::uint64_t closings() noexcept {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  return all.closings;
}

}  // namespace parley::transport::cuda_ipc
