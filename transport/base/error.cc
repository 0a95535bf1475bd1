#include <parley/error.h>

#include <utility>

namespace parley {

Error::Error(const std::string& what, ErrorDetails details)
    : std::runtime_error(what), details_(std::move(details)) {}

// Out of line, so that each type's identity lives in one place and catch works across shared libraries.
Error::~Error() = default;
UsageError::~UsageError() = default;
TimeoutError::~TimeoutError() = default;
PeerDiedError::~PeerDiedError() = default;
PeerLeftError::~PeerLeftError() = default;
LinkLostError::~LinkLostError() = default;
TruncationError::~TruncationError() = default;
MismatchError::~MismatchError() = default;
ObjectError::~ObjectError() = default;
DeadlockError::~DeadlockError() = default;
CancelledError::~CancelledError() = default;
AbortedError::~AbortedError() = default;
InitError::~InitError() = default;
StoreError::~StoreError() = default;
StoreTimeoutError::~StoreTimeoutError() = default;
StoreLostError::~StoreLostError() = default;
ResourceError::~ResourceError() = default;
ForkedError::~ForkedError() = default;
SystemError::~SystemError() = default;

}  // namespace parley
