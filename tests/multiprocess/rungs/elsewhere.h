#pragma once

#include <functional>
#include <string>
#include <vector>

// What containers change around a process. Each call changes it for the calling process, a child of a test
// that has one thread, and throws std::system_error where it may not: most need root.
namespace parley::testing {

// Another user than the one who runs the test.
void become_another_user();
// Begins this program again, for one of its tests alone, in a user namespace in which no user has a name.
// There is_restarted().
[[noreturn]] void restart_in_user_namespace(const std::string& test);
[[nodiscard]] bool is_restarted();
void enter_mount_namespace();
// A mount namespace in which each of these folders has room for so many bytes; 0: nothing can be created
// there.
void limit_folders(const std::vector<std::string>& folders, unsigned long bytes);
// Runs `rest` as a process of a PID namespace, and exits as it does; with 128 + N after signal N.
[[noreturn]] void run_in_pid_namespace(const std::function<void()>& rest);

}  // namespace parley::testing
