#include "transport/socket/identity.h"

#include <cstring>

namespace parley::socket {

// explicit_bzero, because a compiler may leave out a memset of memory that is freed next.
Credentials::~Credentials() {
  explicit_bzero(secret.data(), secret.size());
}

}  // namespace parley::socket
