#pragma once

#include <span>
#include <string>

namespace parley::socket {

// What became of all attempts at one address.
struct AddressReport {
  std::string address;     // "10.0.0.1:4711"
  std::string reason;      // of the last attempt, in words
  int error = 0;           // and its errno, if any
  bool answered = true;    // false: nothing came back,
  bool connected = false;  // unless the connection itself was made
  bool loopback = false;
  int attempts = 0;
};

// "10.0.0.1:4711: Connection refused (nothing listens there), tried 21 times; [fd00::1]:4711: no answer ...".
// Without `with_address` the only address is left out.
[[nodiscard]] std::string list_addresses(std::span<const AddressReport> addresses, bool with_address);

// What to do about it, to be put after the list; begins with ". ", has no stop, and is empty when there is
// nothing to say.
[[nodiscard]] std::string advice_on(std::span<const AddressReport> addresses);

}  // namespace parley::socket
