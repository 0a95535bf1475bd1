#include "transport/socket/refusal.h"

#include <algorithm>

#include "transport/base/log.h"

namespace parley::socket {
namespace {

using base::concat;

std::string name(std::optional<Purpose> purpose) {
  if (!purpose) return "something else";
  return *purpose == Purpose::store ? "the store" : "data links";
}

std::string name(ProcessNumber process) {
  return process == any_process ? std::string("any process") : concat("process ", process);
}

bool without_openssl(const KeyId& id) {
  return id == no_openssl_id;
}

std::string explain_keys(const Facts& dialler, const Facts& listener) {
  const bool off_at_dialler = dialler.key_id == no_authentication_id;
  if (off_at_dialler || listener.key_id == no_authentication_id)
    return concat("authentication is off (PARLEY_AUTH=off) at the ", off_at_dialler ? "dialler" : "listener",
                  " and on at the ", off_at_dialler ? "listener" : "dialler", ", whose key id is ",
                  to_hex(off_at_dialler ? listener.key_id : dialler.key_id),
                  ": set PARLEY_AUTH to the same in both");
  if (without_openssl(dialler.key_id) || without_openssl(listener.key_id))
    return concat("the ", without_openssl(dialler.key_id) ? "dialler" : "listener",
                  " was built without OpenSSL and cannot prove to know the secret: build both with it");
  return concat(
      "the dialler's key id is ", to_hex(dialler.key_id), ", the listener's is ", to_hex(listener.key_id),
      ", so their secrets differ, or they are of different jobs (run id, Slurm step): give both the same "
      "PARLEY_SECRET if they are of one job, other addresses if not (parley-info shows the key ids)");
}

}  // namespace

std::string to_hex(std::span<const std::byte> bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += digits[std::to_integer<unsigned>(byte >> 4)];
    text += digits[std::to_integer<unsigned>(byte & std::byte{15})];
  }
  return text;
}

std::string explain(const Refusal& refusal) {
  const auto& [reason, dialler, listener] = refusal;
  switch (reason) {
    case Reason::none: return "no reason was given";
    case Reason::other_version:
      return concat("the dialler speaks version ", dialler.version, " of the protocol, the listener version ",
                    listener.version, ": use the same release of Parley in both");
    case Reason::other_key: return explain_keys(dialler, listener);
    case Reason::wrong_proof:
      return concat("the dialler's proof is wrong although both have key id ", to_hex(listener.key_id),
                    ": it does not know the secret, or bytes were changed on the way");
    case Reason::wrong_purpose:
      return concat("the dialler looks for ", name(dialler.purpose), ", this address serves ",
                    name(listener.purpose), ": check that the two addresses were not exchanged");
    case Reason::wrong_process:
      return concat("the dialler looks for ", name(dialler.process), ", the listener is ",
                    name(listener.process), ": the address is that of another process");
    case Reason::wrong_job:
      return concat("the dialler belongs to job ", to_hex(dialler.job), ", the listener to job ",
                    to_hex(listener.job), ": the address is that of another job");
    case Reason::wrong_encryption:
      return concat("TLS is ", dialler.encrypts ? "on" : "off", " at the dialler and ",
                    listener.encrypts ? "on" : "off", " at the listener: set PARLEY_TLS to the same in both");
    case Reason::not_parley:
      return "the other side does not speak Parley's protocol: another program uses this port";
    case Reason::impostor:
      return "the listener cannot prove that it knows the secret: the address is not that of the job";
    case Reason::no_crypto: return "the system gave no random bytes or OpenSSL failed";
    case Reason::tls_failed:
      return "the proofs were right, but TLS failed: bytes were changed on the way, or OpenSSL is short of "
             "something";
  }
  return "unknown reason";
}

}  // namespace parley::socket
