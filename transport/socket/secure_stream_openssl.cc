#include <openssl/bio.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <utility>
#include <vector>

#include "transport/socket/record_buffer.h"
#include "transport/socket/secure_stream.h"
#include "transport/socket/tls_context.h"

// OpenSSL never touches the socket: it reads from and writes to two buffers, which are filled and emptied by
// recv(2) and send(2) without SIGPIPE. So one send() may leave in one system call, whatever its records.
namespace parley::socket {
namespace {

constexpr std::size_t record_bytes = std::size_t{16} << 10;
constexpr std::size_t batch_bytes = 8 * record_bytes;  // encrypted before they are written
constexpr std::size_t record_overhead = 64;

class OpensslStream final : public SecureStream {
 public:
  OpensslStream(int socket, const SharedKey& shared, std::size_t records_per_key)
      : socket_(socket), shared_(shared), records_per_key_(records_per_key) {
    out_.reserve(batch_bytes + (batch_bytes / record_bytes + 8) * record_overhead);
  }
  ~OpensslStream() override { explicit_bzero(shared_.key.data(), shared_.key.size()); }

  bool open(Role role) noexcept;

  Step handshake() noexcept override;
  [[nodiscard]] std::string problem() const override;
  ssize_t send(std::span<const iovec> parts) noexcept override;
  ssize_t receive(std::span<const iovec> parts) noexcept override;
  [[nodiscard]] bool sending() const noexcept override {
    const std::lock_guard lock(mutex_);
    return claimed_ != 0;
  }
  [[nodiscard]] bool unread() const noexcept override {
    const std::lock_guard lock(mutex_);
    return has_unread();
  }

  // For the BIO.
  int give(char* into, int most) noexcept;
  int take(const char* from, int count) noexcept;

 private:
  bool has_unread() const noexcept { return SSL_pending(ssl_.get()) > 0 || in_.whole(); }
  bool flush() noexcept;
  Step fill_handshake() noexcept;
  Step fail() noexcept;
  ssize_t break_off() noexcept;
  std::size_t encrypt(std::span<const iovec> parts) noexcept;
  bool encrypt_record(const char* data, std::size_t bytes) noexcept;
  bool decrypt(char* into, std::size_t most, std::size_t& count) noexcept;

  const int socket_;
  SharedKey shared_;
  const std::size_t records_per_key_;
  // OpenSSL allows one thread at a time, and a connection has a sender and a receiver. Never held over a
  // wait.
  mutable std::mutex mutex_;
  SslPointer ssl_;
  RecordBuffer in_;
  std::vector<std::byte> out_;  // encrypted
  std::size_t out_head_ = 0;    // of these sent
  std::size_t claimed_ = 0;     // plain bytes in out_, not yet told to the sender
  std::size_t records_ = 0;     // under the present key
  bool broken_ = false;
  unsigned long error_ = 0;
};

int read_from_buffer(BIO* bio, char* into, int most) noexcept {
  BIO_clear_retry_flags(bio);
  const int count = static_cast<OpensslStream*>(BIO_get_data(bio))->give(into, most);
  if (count > 0) return count;
  BIO_set_retry_read(bio);
  return -1;
}

int write_to_buffer(BIO* bio, const char* from, int count) noexcept {
  BIO_clear_retry_flags(bio);
  return static_cast<OpensslStream*>(BIO_get_data(bio))->take(from, count);
}

long control(BIO*, int command, long, void*) noexcept {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* make_method() noexcept {
  BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "parley");
  if (method == nullptr) return nullptr;
  BIO_meth_set_read(method, read_from_buffer);
  BIO_meth_set_write(method, write_to_buffer);
  BIO_meth_set_ctrl(method, control);
  return method;
}

bool OpensslStream::open(Role role) noexcept {
  static BIO_METHOD* const method = make_method();  // never freed, as the context
  ssl_ = make_ssl(role, shared_);
  BIO* bio = ssl_ && method != nullptr ? BIO_new(method) : nullptr;
  if (bio == nullptr) return false;
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);  // takes the one reference for both
  return true;
}

int OpensslStream::give(char* into, int most) noexcept {
  return static_cast<int>(in_.take(reinterpret_cast<std::byte*>(into), static_cast<std::size_t>(most)));
}

int OpensslStream::take(const char* from, int count) noexcept try {
  const auto* bytes = reinterpret_cast<const std::byte*>(from);
  out_.insert(out_.end(), bytes, bytes + count);
  return count;
} catch (...) {
  return -1;  // out of memory: OpenSSL reports a failed write
}

// False: something is left, or the socket broke; errno says which.
bool OpensslStream::flush() noexcept {
  while (out_head_ != out_.size()) {
    const ssize_t sent =
        ::send(socket_, out_.data() + out_head_, out_.size() - out_head_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    out_head_ += static_cast<std::size_t>(sent);
  }
  out_.clear();
  out_head_ = 0;
  return true;
}

SecureStream::Step OpensslStream::fail() noexcept {
  error_ = ERR_peek_last_error();
  broken_ = true;
  flush();  // the alert, if there is one
  return Step::failed;
}

std::string OpensslStream::problem() const {
  if (error_ == 0) return "no reason known";
  std::array<char, 256> text{};
  ERR_error_string_n(error_, text.data(), text.size());
  return text.data();
}

// One record at a time and not a byte more: what follows the handshake must stay in the socket, whose
// readability is what the next owner waits for.
SecureStream::Step OpensslStream::fill_handshake() noexcept {
  while (!in_.whole()) {
    const auto room = in_.room();
    const ssize_t got =
        ::recv(socket_, room.data(), std::min(in_.rest_of_record(), room.size()), MSG_DONTWAIT);
    if (got > 0) {
      in_.filled(static_cast<std::size_t>(got));
      if (in_.broken()) return fail();
    } else if (got == 0) {
      return Step::lost;
    } else if (errno == EAGAIN) {
      return Step::wants_read;
    } else if (errno != EINTR) {
      return Step::lost;
    }
  }
  return Step::done;
}

SecureStream::Step OpensslStream::handshake() noexcept {
  const std::lock_guard lock(mutex_);
  for (;;) {
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl_.get());
    const int error = result == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl_.get(), result);
    if (error != SSL_ERROR_NONE && error != SSL_ERROR_WANT_READ) return fail();
    if (!flush()) return errno == EAGAIN ? Step::wants_write : Step::lost;
    // Without the key the handshake would have needed a certificate, and there is none.
    if (error == SSL_ERROR_NONE) return SSL_session_reused(ssl_.get()) == 1 ? Step::done : fail();
    if (const Step step = fill_handshake(); step != Step::done) return step;
  }
}

ssize_t OpensslStream::break_off() noexcept {
  broken_ = true;
  errno = EPROTO;
  return -1;
}

bool OpensslStream::encrypt_record(const char* data, std::size_t bytes) noexcept {
  if (++records_ > records_per_key_) {
    if (SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) != 1) return false;
    records_ = 1;
  }
  ERR_clear_error();
  return SSL_write(ssl_.get(), data, static_cast<int>(bytes)) == static_cast<int>(bytes);
}

// Returns how many plain bytes went into out_; sets broken_ when OpenSSL fails.
std::size_t OpensslStream::encrypt(std::span<const iovec> parts) noexcept {
  std::size_t total = 0;
  for (const iovec& part : parts) {
    const auto* data = static_cast<const char*>(part.iov_base);
    for (std::size_t done = 0; done < part.iov_len;) {
      const std::size_t bytes = std::min({part.iov_len - done, record_bytes, batch_bytes - total});
      if (bytes == 0) return total;
      if (!encrypt_record(data + done, bytes)) {
        broken_ = true;
        return total;
      }
      done += bytes;
      total += bytes;
    }
  }
  return total;
}

ssize_t OpensslStream::send(std::span<const iovec> parts) noexcept {
  const std::lock_guard lock(mutex_);
  if (broken_) return break_off();
  if (!flush()) return -1;
  if (claimed_ == 0) {
    claimed_ = encrypt(parts);
    if (broken_) return break_off();
    if (!flush()) return -1;
  }
  return static_cast<ssize_t>(std::exchange(claimed_, 0));
}

// False: OpenSSL found something wrong.
bool OpensslStream::decrypt(char* into, std::size_t most, std::size_t& count) noexcept {
  while (count < most && has_unread()) {
    ERR_clear_error();
    const int wanted = static_cast<int>(std::min(most - count, std::size_t{1} << 30));
    const int got = SSL_read(ssl_.get(), into + count, wanted);
    if (got > 0)
      count += static_cast<std::size_t>(got);
    else if (SSL_get_error(ssl_.get(), got) != SSL_ERROR_WANT_READ)  // else it was no data: a new key
      return false;
  }
  return true;
}

// Asks the socket once, and only when nothing is left from before.
ssize_t OpensslStream::receive(std::span<const iovec> parts) noexcept {
  const std::lock_guard lock(mutex_);
  if (broken_) return break_off();
  if (!has_unread()) {
    const auto room = in_.room();
    const ssize_t got = ::recv(socket_, room.data(), room.size(), MSG_DONTWAIT);
    if (got <= 0) return got;
    in_.filled(static_cast<std::size_t>(got));
  }
  std::size_t total = 0;
  for (const iovec& part : parts) {
    std::size_t count = 0;
    const bool sound = decrypt(static_cast<char*>(part.iov_base), part.iov_len, count);
    total += count;
    if (!sound) broken_ = true;
    if (!sound || count < part.iov_len) break;
  }
  broken_ = broken_ || in_.broken();
  if (total != 0) return static_cast<ssize_t>(total);
  if (broken_) return break_off();
  errno = EAGAIN;
  return -1;
}

}  // namespace

bool tls_available() noexcept {
  return true;
}

std::unique_ptr<SecureStream> make_secure_stream(int socket, SecureStream::Role role, const SharedKey& shared,
                                                 std::size_t records_per_key) noexcept try {
  auto stream = std::make_unique<OpensslStream>(socket, shared, records_per_key);
  if (!stream->open(role)) return nullptr;
  return stream;
} catch (...) {
  return nullptr;  // out of memory
}

}  // namespace parley::socket
