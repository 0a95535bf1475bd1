#include "bench/peers/gloo_mesh.h"

#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace parley::bench {
namespace {

// Gloo finds its ranks through the store that spawn() serves; nothing has to lie in a file.
class GlooStore final : public gloo::rendezvous::Store {
 public:
  explicit GlooStore(std::shared_ptr<parley::Store> store) : store_(std::move(store)) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    store_->set(key, std::as_bytes(std::span(data)));
  }
  std::vector<char> get(const std::string& key) override {
    const parley::Store::Value value = store_->get(key);
    std::vector<char> data(value.size());
    if (!value.empty()) std::memcpy(data.data(), value.data(), value.size());
    return data;
  }
  void wait(const std::vector<std::string>& keys) override { store_->wait(keys); }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override {
    store_->wait(keys, timeout);
  }

 private:
  std::shared_ptr<parley::Store> store_;
};

}  // namespace

std::shared_ptr<gloo::Context> connect_gloo_mesh(int rank, int size, const std::shared_ptr<Store>& store,
                                                 const char* name, GlooMode mode) {
  gloo::transport::tcp::attr attributes;
  attributes.hostname = "127.0.0.1";
  std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(attributes);
  auto mesh = std::make_shared<gloo::rendezvous::Context>(rank, size);
  GlooStore rendezvous(make_prefix_store(store, name));
  mesh->connectFullMesh(rendezvous, device);
  if (mode == GlooMode::asynchronous) return mesh;
  for (int other = 0; other < size; ++other) {
    if (other != rank) mesh->getPair(other)->setSync(true, true);
  }
  return mesh;
}

}  // namespace parley::bench
