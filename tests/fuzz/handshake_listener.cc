// The listener's half of the handshake against a dialler that does not know the secret, or whose right
// messages are changed on the way: nobody gets in.
#include "tests/fuzz/handshake_parties.h"
#include "tests/fuzz/input.h"

namespace parley::fuzz {
namespace {

// The messages of a dialler, right ones with the input's bytes added to them, or the input's bytes alone.
void run(Input& input) {
  static const auto key = make_key("correct horse battery staple");
  const bool from_right_ones = input.choice(2) == 1;
  auto dialler = make_dialler(key);
  auto listener = make_listener(key);

  socket::HelloBytes hello;
  input.fill(hello);
  bool changed = !from_right_ones;
  if (from_right_ones) changed = mix(hello, dialler.hello());
  if (const auto refusal = listener.take_hello(hello)) {
    FUZZ_EXPECT(changed);
    return check_words(*refusal);
  }
  // The hello may be that of another process which knows the key's id; it has no proof.
  FUZZ_EXPECT(!dialler.take_challenge(listener.challenge()));
  socket::ProofBytes proof;
  input.fill(proof);
  if (from_right_ones) changed |= mix(proof, dialler.proof());
  const auto refusal = listener.take_proof(proof);
  FUZZ_EXPECT(refusal.has_value() == changed);
  if (!refusal) {
    FUZZ_EXPECT(listener.identity().from == 1);
    FUZZ_EXPECT(!dialler.take_welcome(listener.welcome()));
    return;
  }
  check_words(*refusal);
  FUZZ_EXPECT(refusal->reason == socket::Reason::wrong_proof);
  socket::WelcomeBytes nothing{};
  nothing[0] = static_cast<std::byte>(socket::Reason::wrong_proof);
  FUZZ_EXPECT(listener.welcome() == nothing);
}

}  // namespace
}  // namespace parley::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  parley::fuzz::Input input(data, size);
  parley::fuzz::run(input);
  return 0;
}
