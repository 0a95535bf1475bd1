// The dialler's half of the handshake against a listener that does not know the secret, or whose right
// messages are changed on the way: the dialler takes none for the one it looks for.
#include "tests/fuzz/handshake_parties.h"
#include "tests/fuzz/input.h"

namespace parley::fuzz {
namespace {

void run(Input& input) {
  static const auto key = make_key("correct horse battery staple");
  const bool from_right_ones = input.choice(2) == 1;
  auto dialler = make_dialler(key);
  auto listener = make_listener(key);
  FUZZ_EXPECT(!listener.take_hello(dialler.hello()));

  socket::ChallengeBytes challenge;
  input.fill(challenge);
  bool changed = !from_right_ones;
  if (from_right_ones) changed = mix(challenge, listener.challenge());
  if (const auto refusal = dialler.take_challenge(challenge)) {
    FUZZ_EXPECT(changed);
    return check_words(*refusal);
  }
  const bool accepted = !listener.take_proof(dialler.proof());
  FUZZ_EXPECT(accepted == (challenge == listener.challenge()));

  socket::WelcomeBytes welcome;
  input.fill(welcome);
  if (from_right_ones) changed |= mix(welcome, listener.welcome());
  const auto refusal = dialler.take_welcome(welcome);
  FUZZ_EXPECT(refusal.has_value() == changed);
  if (refusal) check_words(*refusal);
}

}  // namespace
}  // namespace parley::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  parley::fuzz::Input input(data, size);
  parley::fuzz::run(input);
  return 0;
}
