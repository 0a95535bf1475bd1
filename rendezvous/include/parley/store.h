#pragma once

#include <parley/export.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parley {

// A small key/value service through which processes find each other. Values are opaque bytes.
//
// Every operation takes how long it may last; `default_timeout` stands for the store's own timeout (see
// set_timeout). Failures throw StoreError: StoreTimeoutError names the keys that were missing, StoreLostError
// says that the store's host is gone.
//
// Thread-safety: all methods may be called from several threads; one that waits does not hold up the others.
class PARLEY_API Store {
 public:
  using Timeout = std::chrono::nanoseconds;
  using Value = std::vector<std::byte>;
  static constexpr Timeout default_timeout{-1};

  virtual ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Sets or overwrites a key.
  virtual void set(std::string_view key, std::span<const std::byte> value,
                   Timeout timeout = default_timeout) = 0;
  // The key's value; waits until the key exists.
  virtual Value get(std::string_view key, Timeout timeout = default_timeout) = 0;
  // Adds to a decimal number kept as text, an absent key counting as 0, and returns the sum. Atomic. A value
  // that is no number is a StoreError.
  virtual std::int64_t add(std::string_view key, std::int64_t delta, Timeout timeout = default_timeout) = 0;
  // If the key's value equals `expected` (an absent key equals the empty value), makes it `desired`; an
  // absent key is not made to be empty. Returns the value that is there afterwards; empty if the key is still
  // absent. Atomic.
  virtual Value compare_set(std::string_view key, std::span<const std::byte> expected,
                            std::span<const std::byte> desired, Timeout timeout = default_timeout) = 0;
  // Adds bytes to the end of a key's value, an absent key counting as empty. Returns the value's new size in
  // bytes. Atomic.
  virtual std::size_t append(std::string_view key, std::span<const std::byte> value,
                             Timeout timeout = default_timeout) = 0;
  // Whether all keys exist now.
  virtual bool check(std::span<const std::string> keys, Timeout timeout = default_timeout) = 0;
  // Returns when all keys exist.
  virtual void wait(std::span<const std::string> keys, Timeout timeout = default_timeout) = 0;
  // Removes a key; returns whether it was there.
  virtual bool remove(std::string_view key, Timeout timeout = default_timeout) = 0;
  // Values of several keys, in order; waits until all exist.
  virtual std::vector<Value> multi_get(std::span<const std::string> keys,
                                       Timeout timeout = default_timeout) = 0;
  // Sets several keys at once: no reader sees some of them only. REQUIRES: as many values as keys.
  virtual void multi_set(std::span<const std::string> keys, std::span<const Value> values,
                         Timeout timeout = default_timeout) = 0;
  // How many keys there are that begin with `prefix`; "" counts them all.
  virtual std::size_t key_count(std::string_view prefix = {}, Timeout timeout = default_timeout) = 0;

  // How long an operation lasts when its caller says `default_timeout`. 5 minutes at first.
  void set_timeout(Timeout timeout) noexcept;
  [[nodiscard]] Timeout timeout() const noexcept;

  // Text instead of bytes.
  void set_string(std::string_view key, std::string_view text, Timeout timeout = default_timeout);
  std::string get_string(std::string_view key, Timeout timeout = default_timeout);

 protected:
  Store();
  // `timeout` with default_timeout replaced.
  [[nodiscard]] Timeout effective(Timeout timeout) const noexcept;

 private:
  struct Settings;
  std::unique_ptr<Settings> settings_;
};

// Limits of every store; beyond them an operation throws StoreError and nothing is changed. All keys and
// values of a store together may have 256 MiB, and there may be 2^20 keys.
struct StoreLimits {
  std::size_t key_bytes = 4096;                    // 1 to 4096
  std::size_t value_bytes = std::size_t{1} << 20;  // 1 to 64 MiB
};

// A store inside this process. Throws UsageError when the limits are out of range.
PARLEY_API std::shared_ptr<Store> make_memory_store(const StoreLimits& limits = {});

// A store in a file that several processes open, on one host or on a network file system with POSIX locks. It
// lives as long as somebody has it open: the last one to close it removes the file, and what killed processes
// left behind is emptied by the next one to open it. A process may die at any moment without harm to the
// others. The limits are those of whoever made the file. Waiting looks at the file up to every 50 ms. Throws
// StoreError naming the file when it cannot be made, belongs to another user, may be written by others, or is
// no store; UsageError when the limits are out of range.
PARLEY_API std::shared_ptr<Store> make_file_store(const std::string& path, const StoreLimits& limits = {});

// A part of another store: all keys get `prefix` and a slash in front, in errors too, and count towards the
// limit of a key. Its timeout is at first that of `store`. Throws UsageError when there is no store.
PARLEY_API std::shared_ptr<Store> make_prefix_store(std::shared_ptr<Store> store, std::string prefix);

struct TcpStoreOptions {
  std::string host = "127.0.0.1";  // server: the address to bind; client: whom to connect to
  std::uint16_t port = 0;          // server: 0 picks a free one (of PARLEY_PORT_RANGE, if set)
  // Proof that both ends belong to the same job. Empty: see "Secrets" in api/README.md.
  std::string secret = {};
  // Encrypt the connection; server and clients alike. Not given: PARLEY_TLS.
  std::optional<bool> tls = std::nullopt;
  std::chrono::nanoseconds timeout = std::chrono::minutes(5);  // of connecting, and the store's default
  // The server's count; a client's only spare it what the server would refuse. UsageError when out of range.
  StoreLimits limits = {};
};

// Serves a store to other processes from one thread of its own until it is destroyed.
// Thread-safety: safe. The server's own process connects like any other.
class PARLEY_API TcpStoreServer {
 public:
  // Throws StoreError when the address cannot be bound; the text names address, port and reason.
  explicit TcpStoreServer(const TcpStoreOptions& options);
  ~TcpStoreServer();
  TcpStoreServer(const TcpStoreServer&) = delete;
  TcpStoreServer& operator=(const TcpStoreServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] std::size_t client_count() const;
  // Returns when no client is connected; false: the timeout passed first.
  bool wait_for_no_clients(std::chrono::nanoseconds timeout);
  // Whoever connects from now on is served, but not waited for. Who was answered before is surely no
  // newcomer; a connection that is still being made may be one.
  void disregard_newcomers();
  // Frees the port; those that are connected are still served.
  void stop_accepting();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Connects to a TcpStoreServer, waiting until it is there or the timeout has passed (StoreTimeoutError).
// Throws StoreError at once when the server refuses us.
PARLEY_API std::shared_ptr<Store> connect_tcp_store(const TcpStoreOptions& options);

}  // namespace parley
