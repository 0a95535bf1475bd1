// parley-info: what it says is what init() would do, and it never says a secret.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rendezvous/launchers.h"
#include "tests/multiprocess/launch/command.h"
#include "tests/unit/shm/child.h"
#include "tests/unit/shm/refuse_calls.h"
#include "transport/base/env.h"
#include "transport/socket/job_key.h"
#include "transport/socket/refusal.h"
#include "transport/socket/secret.h"
#include "transport/socket/secure_stream.h"

namespace parley::info {
namespace {

using launch::testing::Command;
using launch::testing::CommandOptions;
using nlohmann::json;
namespace shm = transport::shm::testing;

constexpr const char* secret = "xyzzy-the-secret-of-this-test";
using Variables = std::map<std::string, std::string>;

// Variables that are empty count as unset: none of the test's own has a part in it.
Variables only(const Variables& given) {
  Variables all;
  for (const std::string name : rendezvous::launcher_variables()) all[name] = "";
  for (const auto& known : base::known_variables()) all[std::string(known.name)] = "";
  for (const auto& [name, value] : given) all[name] = value;
  return all;
}

struct Answer {
  int exit_code = 0;
  std::string text;
  json report;
};

Answer ask(const Variables& variables, std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.begin(), {PARLEY_INFO_PROGRAM, "--json"});
  CommandOptions options;
  options.environment = only(variables);
  Command command(arguments, options);
  Answer answer;
  answer.exit_code = command.finish();
  answer.text = command.output() + command.errors();
  answer.report = json::parse(command.output(), nullptr, false);
  EXPECT_FALSE(answer.report.is_discarded()) << answer.text;
  return answer;
}

const Variables rank_1_of_2 = {
    {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "29500"}, {"RANK", "1"},
    {"WORLD_SIZE", "2"},          {"LOCAL_RANK", "1"},      {"PARLEY_SECRET", secret}};

// A folder that is gone at the end of the test.
class Folder {
 public:
  Folder() { EXPECT_NE(mkdtemp(path_.data()), nullptr); }
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = ::testing::TempDir() + "parley-info-XXXXXX";
};

TEST(Info, WithoutAnythingItIsAWorldOfOne) {
  const Answer answer = ask({});
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_EQ(answer.report["place"]["alone"], true);
  EXPECT_EQ(answer.report["links"].size(), 1U);
  EXPECT_TRUE(answer.report["problems"].empty());
  EXPECT_FALSE(answer.report["interfaces"].empty());
  EXPECT_GT(answer.report["host"]["descriptors_at_most"], 0);
  EXPECT_TRUE(answer.report["cuda"].contains("devices") || answer.report["cuda"].contains("cuda:0"));
  EXPECT_TRUE(answer.report["cuda"].contains("nccl"));
}

TEST(Info, SaysWhyThereIsNoDevice) {
  const Answer answer = ask({{"PARLEY_CUDA", "off"}});
  EXPECT_EQ(answer.report["cuda"]["devices"], "none: PARLEY_CUDA=off is set");
  EXPECT_EQ(answer.report["cuda"]["nccl"], "none: NCCL needs CUDA: PARLEY_CUDA=off is set");
}

// What refuses one way, as a container's filter does, is named, and the next way is taken.
TEST(Info, TriesTheWaysToSharedMemory) {
  const json open_ways = ask({}).report["shared_memory"];
  EXPECT_EQ(open_ways["memfd"], "works, and is taken");
  EXPECT_EQ(open_ways["unnamed file in /dev/shm"], "works");
  EXPECT_EQ(open_ways["read of a child"], "works");
  EXPECT_TRUE(open_ways.contains("read of a sibling"));
  const std::string told = shm::in_child([] {
    shm::refuse_calls({shm::refused_memfd(EPERM), {.number = SYS_process_vm_readv, .error = EPERM}});
    return ask({}).report["shared_memory"].dump();
  });
  const json closed_ways = json::parse(told, nullptr, false);
  ASSERT_FALSE(closed_ways.is_discarded()) << told;
  EXPECT_EQ(closed_ways["memfd"], "memfd_create: Operation not permitted");
  EXPECT_EQ(closed_ways["unnamed file in /dev/shm"], "works, and is taken");
  for (const char* read : {"read of a child", "read of a sibling"})
    EXPECT_EQ(closed_ways[read].get<std::string>().find("not permitted"), 0U) << told;
}

TEST(Info, TriesTheFoldersForItself) {
  const std::string told = shm::in_child([] {
    shm::leave_mount_namespace();
    shm::mount_tmpfs("/dev/shm", "size=1m");
    return ask({{"TMPDIR", "/nowhere"}}).report["shared_memory"].dump();
  });
  const json ways = json::parse(told, nullptr, false);
  ASSERT_FALSE(ways.is_discarded()) << told;
  EXPECT_EQ(ways["unnamed file in /dev/shm"], "fallocate: No space left on device");
  EXPECT_EQ(ways["unnamed file in /nowhere"], "open: No such file or directory");
  EXPECT_EQ(ways["unnamed file in /tmp"], "works");
}

TEST(Info, ARankLearnsItsPlaceItsAddressAndWhy) {
  const Answer answer = ask(rank_1_of_2);
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_EQ(answer.report["place"]["rank"], 1);
  EXPECT_EQ(answer.report["place"]["world_size"], 2);
  EXPECT_EQ(answer.report["place"]["local_rank"], 1);
  EXPECT_EQ(answer.report["place"]["store_port"], 29500);
  EXPECT_EQ(answer.report["advertised_address"]["address"], "127.0.0.1");
  EXPECT_EQ(answer.report["advertised_address"]["why"], "the route to the store's host 127.0.0.1");
  EXPECT_EQ(answer.report["links"][1]["link"], "shm on this host, else tcp");
  EXPECT_EQ(answer.report["links"][1]["why"], "the default");
  const Answer other = ask({}, {"--method", "tcp://127.0.0.1:4711?world_size=3", "--rank", "2"});
  EXPECT_EQ(other.report["place"]["rank"], 2);
  EXPECT_EQ(other.report["place"]["store_port"], 4711);
}

TEST(Info, ASecretIsToldByItsKeyIdOnly) {
  socket::Credentials credentials;
  credentials.secret = secret;
  const auto key = socket::JobKey::make(credentials);
  ASSERT_TRUE(key.ok());
  const Answer answer = ask(rank_1_of_2);
  EXPECT_EQ(answer.report["secret"]["from"], "PARLEY_SECRET");
  EXPECT_EQ(answer.report["secret"]["key_id"], socket::to_hex(key.value()->id()));
  EXPECT_EQ(answer.text.find("xyzzy"), std::string::npos);

  CommandOptions options;
  options.environment = only(rank_1_of_2);
  Command text({PARLEY_INFO_PROGRAM}, options);
  EXPECT_EQ(text.finish(), 0);
  EXPECT_EQ((text.output() + text.errors()).find("xyzzy"), std::string::npos);
  EXPECT_NE(text.output().find("key id: " + socket::to_hex(key.value()->id())), std::string::npos)
      << text.output();
}

std::string key_id_of(const std::string& of) {
  socket::Credentials credentials;
  credentials.secret = of;
  const auto key = socket::JobKey::make(credentials);
  return key.ok() ? socket::to_hex(key.value()->id()) : "no key";
}

// What a refusal at the store names, there with the job in it.
TEST(Info, TheStoresKeyIdIsThatOfSecretAndJob) {
  const Answer plain = ask(rank_1_of_2);
  EXPECT_EQ(plain.report["secret"]["store_key_id"], key_id_of(secret));
  Variables variables = rank_1_of_2;
  variables["TORCHELASTIC_RUN_ID"] = "run 7";
  const Answer torchrun = ask(variables);
  const std::string job = torchrun.report["place"]["job"];
  EXPECT_NE(job.find("run 7"), std::string::npos);
  EXPECT_EQ(torchrun.report["secret"]["key_id"], key_id_of(secret));
  EXPECT_EQ(torchrun.report["secret"]["store_key_id"], key_id_of(socket::secret_of_job(secret, job)));
  EXPECT_NE(torchrun.report["secret"]["store_key_id"], plain.report["secret"]["store_key_id"]);
}

TEST(Info, LinksSayWhenTheyAreMadeAndWhetherTheyAreEncrypted) {
  const auto link_of = [](const std::string& world_size, const Variables& more) {
    Variables variables = rank_1_of_2;
    variables["WORLD_SIZE"] = world_size;
    for (const auto& [name, value] : more) variables[name] = value;
    return ask(variables).report["links"][1];
  };
  EXPECT_EQ(link_of("32", {})["on_demand"], false);
  EXPECT_EQ(link_of("33", {})["on_demand"], true);
  EXPECT_EQ(link_of("2", {{"PARLEY_FULL_MESH_LIMIT", "0"}})["on_demand"], true);
  EXPECT_EQ(link_of("2", {})["tls"], false);
  if (socket::tls_available()) {
    EXPECT_EQ(link_of("2", {{"PARLEY_TLS", "1"}})["tls"], true);
  }
  EXPECT_EQ(link_of("2", {{"PARLEY_TRANSPORTS", "shm,tcp"}})["link"], "shm on this host, else tcp");
  EXPECT_EQ(link_of("2", {{"PARLEY_TRANSPORTS", "shm"}})["link"], "shm");
  EXPECT_EQ(link_of("2", {{"PARLEY_TRANSPORTS", "^shm"}})["link"], "tcp");
  EXPECT_EQ(link_of("2", {{"PARLEY_TRANSPORTS", "^shm"}})["why"], "PARLEY_TRANSPORTS");
  Variables wrong = rank_1_of_2;
  wrong["PARLEY_TRANSPORTS"] = "shn";
  EXPECT_EQ(ask(wrong).exit_code, 1);
  wrong["PARLEY_TRANSPORTS"] = "tcp";
  wrong["PARLEY_TLS"] = "yes";
  EXPECT_EQ(ask(wrong).exit_code, 1);
  wrong["PARLEY_TLS"] = "";
  wrong["PARLEY_FULL_MESH_LIMIT"] = "-1";
  EXPECT_EQ(ask(wrong).exit_code, 1);
}

TEST(Info, EveryVariableThatDecidesIsShown) {
  Variables variables;
  for (const std::string name : rendezvous::launcher_variables()) variables[name] = "1";
  const Answer answer = ask(variables);
  for (const auto& variable : variables) {
    const std::string& name = variable.first;
    const bool shown = std::any_of(answer.report["variables"].begin(), answer.report["variables"].end(),
                                   [&](const json& one) { return one["name"] == name; });
    EXPECT_TRUE(shown) << name;
  }
}

TEST(Info, AVariableWithASlipIsNamedAndItsValueIsNot) {
  const Answer answer = ask({{"PARLEY_SECRTE", "hunter2"}, {"PARLEY_DEBUG", "error"}});
  EXPECT_EQ(answer.text.find("hunter2"), std::string::npos);
  EXPECT_NE(answer.text.find("PARLEY_SECRTE"), std::string::npos);
  EXPECT_NE(answer.text.find("did you mean PARLEY_SECRET?"), std::string::npos) << answer.text;
  bool found = false;
  for (const json& variable : answer.report["variables"])
    found |= variable["name"] == "PARLEY_DEBUG" && variable["value"] == "error";
  EXPECT_TRUE(found) << answer.text;
}

TEST(Info, WhatInitWouldComplainAboutIsAProblem) {
  const Answer missing = ask({{"RANK", "0"}});
  EXPECT_EQ(missing.exit_code, 1);
  ASSERT_FALSE(missing.report["problems"].empty());
  EXPECT_NE(missing.report["problems"][0].get<std::string>().find("WORLD_SIZE"), std::string::npos);

  const Answer malformed = ask({{"PARLEY_TIMEOUT", "soon"}});
  EXPECT_EQ(malformed.exit_code, 1);
  EXPECT_NE(malformed.report["problems"][0].get<std::string>().find("PARLEY_TIMEOUT=soon"),
            std::string::npos);
}

TEST(Info, ItMakesNoCookieAndReadsOneThatIsThere) {
  const Folder folder;
  Variables variables = rank_1_of_2;
  variables["PARLEY_SECRET"] = "";
  variables["XDG_CONFIG_HOME"] = folder.path();
  const Answer without = ask(variables);
  EXPECT_EQ(without.exit_code, 0) << without.text;
  EXPECT_NE(without.report["secret"]["from"].get<std::string>().find("init() makes"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));

  const std::filesystem::path path = std::filesystem::path(folder.path()) / "parley" / "cookie";
  std::filesystem::create_directory(path.parent_path());
  const std::string cookie(64, 'a');
  std::ofstream(path) << cookie << "\n";
  std::filesystem::permissions(path,
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const Answer with = ask(variables);
  EXPECT_EQ(with.exit_code, 0) << with.text;
  EXPECT_EQ(with.report["secret"]["key_id"].get<std::string>().size(), 8U) << with.text;
  EXPECT_EQ(with.text.find(cookie), std::string::npos);

  std::filesystem::permissions(path, std::filesystem::perms::others_read, std::filesystem::perm_options::add);
  const Answer exposed = ask(variables);
  EXPECT_EQ(exposed.exit_code, 1);
  EXPECT_NE(exposed.report["problems"][0].get<std::string>().find(path.string()), std::string::npos);
}

TEST(Info, TheSecretFileWinsAndProofsMayBeOff) {
  const Folder folder;
  const std::string path = folder.path() + "/secret";
  std::ofstream(path) << "another secret of this test\n";
  std::filesystem::permissions(path,
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  Variables variables = rank_1_of_2;
  variables["PARLEY_SECRET_FILE"] = path;
  const Answer answer = ask(variables);
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  EXPECT_NE(answer.report["secret"]["from"].get<std::string>().find("PARLEY_SECRET_FILE"), std::string::npos);
  EXPECT_NE(answer.report["secret"]["key_id"], ask(rank_1_of_2).report["secret"]["key_id"]);
  EXPECT_EQ(answer.text.find("another secret"), std::string::npos);
  variables["PARLEY_AUTH"] = "off";
  EXPECT_FALSE(ask(variables).report["secret"].contains("key_id"));
  variables["PARLEY_AUTH"] = "perhaps";
  EXPECT_EQ(ask(variables).exit_code, 1);
}

TEST(Info, AnAddressFollowsItsVariablesAndAFileNeedsNone) {
  Variables variables = rank_1_of_2;
  variables["PARLEY_SOCKET_IFNAME"] = "127.0.0.0/8";
  EXPECT_EQ(ask(variables).report["advertised_address"]["why"], "PARLEY_SOCKET_IFNAME");
  variables["PARLEY_HOST"] = "127.0.0.1";
  EXPECT_EQ(ask(variables).report["advertised_address"]["why"], "PARLEY_HOST");
  const Folder folder;
  const std::string file = folder.path() + "/store";
  const Answer answer = ask({}, {"--method", "file://" + file + "?world_size=2&rank=1"});
  EXPECT_EQ(answer.report["place"]["store_file"], file) << answer.text;
  EXPECT_EQ(answer.report["advertised_address"]["address"], "127.0.0.1");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Info, WrongUsageIsExitCode2) {
  Command wrong({PARLEY_INFO_PROGRAM, "--jsno"});
  EXPECT_EQ(wrong.finish(), 2);
  Command help({PARLEY_INFO_PROGRAM, "--help"});
  EXPECT_EQ(help.finish(), 0);
  EXPECT_NE(help.output().find("--method"), std::string::npos);
}

}  // namespace
}  // namespace parley::info
