#include "transport/socket/handshake_messages.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace parley::socket {
namespace {

static_assert(std::endian::native == std::endian::little, "the wire format is little endian");

using Magic = std::array<std::byte, magic_bytes>;

// The first byte is no ASCII and no TLS record type; the last names the message.
constexpr Magic make_magic(char message) {
  Magic magic{std::byte{0x89}};
  const char name[] = {'P', 'A', 'R', 'L', 'E', 'Y', message};
  for (std::size_t i = 0; i < sizeof(name); ++i) magic[i + 1] = static_cast<std::byte>(name[i]);
  return magic;
}
constexpr auto hello_magic_bytes = make_magic('H');
constexpr auto challenge_magic_bytes = make_magic('C');

// Writes fields one after the other into zeroed bytes.
class FieldWriter {
 public:
  explicit FieldWriter(std::span<std::byte> bytes) noexcept : at_(bytes.data()) {}
  template <typename Field>
  FieldWriter& put(const Field& field) noexcept {
    std::memcpy(at_, &field, sizeof(field));
    at_ += sizeof(field);
    return *this;
  }
  FieldWriter& skip(std::size_t count) noexcept {
    at_ += count;
    return *this;
  }

 private:
  std::byte* at_;
};

// Reads them back; the caller's fields add up to the size of the message.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> bytes) noexcept : at_(bytes.data()) {}
  template <typename Field>
  Field get() noexcept {
    Field field;
    std::memcpy(&field, at_, sizeof(field));
    at_ += sizeof(field);
    return field;
  }
  [[nodiscard]] bool zeros(std::size_t count) noexcept {
    const auto* first = std::exchange(at_, at_ + count);
    return std::all_of(first, at_, [](std::byte b) { return b == std::byte{0}; });
  }

 private:
  const std::byte* at_;
};

bool is_purpose(std::uint8_t value) noexcept {
  return value == static_cast<std::uint8_t>(Purpose::store) ||
         value == static_cast<std::uint8_t>(Purpose::data);
}

bool travels(Reason reason) noexcept {
  return reason <= Reason::wrong_encryption;
}

}  // namespace

std::span<const std::byte, magic_bytes> hello_magic() noexcept {
  return hello_magic_bytes;
}
std::span<const std::byte, magic_bytes> challenge_magic() noexcept {
  return challenge_magic_bytes;
}

HelloBytes encode(const Hello& hello) noexcept {
  HelloBytes bytes{};
  FieldWriter(bytes)
      .put(hello_magic_bytes)
      .put(hello.version)
      .put(hello.purpose)
      .put(hello.encrypt)
      .put(hello.from)
      .put(hello.to)
      .put(hello.key_id)
      .put(hello.job)
      .put(hello.nonce);
  return bytes;
}

ChallengeBytes encode(const Challenge& challenge) noexcept {
  ChallengeBytes bytes{};
  FieldWriter(bytes)
      .put(challenge_magic_bytes)
      .put(challenge.version)
      .put(challenge.reason)
      .skip(1)
      .put(challenge.key_id)
      .put(challenge.nonce);
  return bytes;
}

WelcomeFields encode(const Welcome& welcome) noexcept {
  WelcomeFields fields{};
  FieldWriter(fields)
      .put(welcome.reason)
      .put(welcome.purpose)
      .put(welcome.encrypt)
      .skip(1)
      .put(welcome.self)
      .put(welcome.job);
  return fields;
}

std::optional<Hello> decode_hello(const HelloBytes& bytes) noexcept {
  FieldReader reader(bytes);
  Hello hello;
  if (reader.get<Magic>() != hello_magic_bytes) return std::nullopt;
  hello.version = reader.get<std::uint16_t>();
  if (hello.version != protocol_version) return hello;
  const auto purpose = reader.get<std::uint8_t>();
  const auto encrypt = reader.get<std::uint8_t>();
  if (!is_purpose(purpose) || encrypt > 1) return std::nullopt;
  hello.purpose = static_cast<Purpose>(purpose);
  hello.encrypt = encrypt == 1;
  hello.from = reader.get<ProcessNumber>();
  hello.to = reader.get<ProcessNumber>();
  hello.key_id = reader.get<KeyId>();
  hello.job = reader.get<JobId>();
  hello.nonce = reader.get<Nonce>();
  return hello;
}

std::optional<Challenge> decode_challenge(const ChallengeBytes& bytes) noexcept {
  FieldReader reader(bytes);
  Challenge challenge;
  if (reader.get<Magic>() != challenge_magic_bytes) return std::nullopt;
  challenge.version = reader.get<std::uint16_t>();
  challenge.reason = reader.get<Reason>();
  const bool padded = reader.zeros(1);
  challenge.key_id = reader.get<KeyId>();
  if (challenge.version != protocol_version) return challenge;
  if (!padded || !travels(challenge.reason)) return std::nullopt;
  challenge.nonce = reader.get<Nonce>();
  return challenge;
}

std::optional<Welcome> decode_welcome(const WelcomeFields& fields) noexcept {
  FieldReader reader(fields);
  Welcome welcome;
  welcome.reason = reader.get<Reason>();
  welcome.purpose = reader.get<std::uint8_t>();
  const auto encrypt = reader.get<std::uint8_t>();
  if (!travels(welcome.reason) || encrypt > 1 || !reader.zeros(1)) return std::nullopt;
  welcome.encrypt = encrypt == 1;
  welcome.self = reader.get<ProcessNumber>();
  welcome.job = reader.get<JobId>();
  return welcome;
}

}  // namespace parley::socket
