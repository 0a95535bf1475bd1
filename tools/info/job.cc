// What the job's variables make of this process: its place, secret, address and links.
#include <parley/error.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "rendezvous/discovery.h"
#include "tools/info/report.h"
#include "transport/base/env.h"
#include "transport/base/log.h"
#include "transport/socket/cookie_file.h"
#include "transport/socket/job_key.h"
#include "transport/socket/own_address.h"
#include "transport/socket/refusal.h"
#include "transport/socket/secret.h"

namespace parley::info {
namespace {

bool is_alone(const Json& place) {
  return place.value("alone", false);
}

std::string key_id_of(const std::string& secret) {
  socket::Credentials credentials;
  credentials.secret = secret;
  const auto key = socket::JobKey::make(credentials);
  return key ? socket::to_hex(key.value()->id()) : "none: " + key.failure().message;
}

Json variable(std::string_view name, const std::string& value, std::string_view note) {
  return {{"name", name}, {"value", value}, {"note", note}};
}

}  // namespace

Json describe_place(const Question& question) try {
  const auto place = rendezvous::discover(question.method, question.rank, question.world_size);
  Json json = {
      {"from", place.source},
      {"alone", place.alone},
      {"rank", place.rank},
      {"world_size", place.world_size},
      {"local_rank", place.local_rank < 0 ? Json("not told: counted in init()") : Json(place.local_rank)}};
  if (place.alone) {
    json["why"] = "nothing tells of other ranks: a world of one";
    return json;
  }
  if (!place.store_host.empty()) {
    json["store_host"] = place.store_host;
    json["store_port"] = place.store_port;
    json["store_served_by"] =
        place.serves_store ? "this process" : "another process (rank 0 or the launcher)";
  } else if (!place.store_path.empty()) {
    json["store_file"] = place.store_path;
  } else {
    json["store_file"] = "one in a folder of this user's, for ranks of this host: " + place.store_key;
  }
  if (!place.job.empty()) json["job"] = place.job;
  return json;
} catch (const Error& error) {
  return {{"problem", error.what()}};
}

// The order of socket::resolve_secret(), which makes the cookie file where there is none.
Json describe_secret(const Json& place) try {
  if (is_alone(place)) return {{"from", "nowhere: a world of one needs none"}};
  const std::string setting = base::env_string("PARLEY_AUTH").value_or("on");
  if (setting == "off") return {{"from", "nowhere: PARLEY_AUTH=off, whoever comes is let in"}};
  if (setting != "on") return {{"problem", base::concat("PARLEY_AUTH=", setting, " is neither on nor off")}};
  if (const auto secret = socket::secret_of_file())
    return {{"from", "the file that PARLEY_SECRET_FILE names"}, {"key_id", key_id_of(*secret)}};
  if (const auto secret = base::env_string("PARLEY_SECRET"))
    return {{"from", "PARLEY_SECRET"}, {"key_id", key_id_of(*secret)}};
  const std::string path = socket::cookie_path();
  if (!std::filesystem::exists(path))
    return {{"from", base::concat("the cookie file ", path, ", which the first init() makes")}};
  return {{"from", "the cookie file " + path}, {"key_id", key_id_of(socket::read_or_make_cookie(path))}};
} catch (const Error& error) {
  return {{"problem", error.what()}};
}

// The order of api/wireup.
Json describe_address(const Json& place) try {
  if (is_alone(place)) return {{"why", "none: a world of one does not listen"}};
  const std::string store = place.value("store_host", "");
  if (store.empty() && !socket::knows_own_address()) {
    if (place.contains("problem")) return {{"why", "unknown as long as the place is"}};
    return {{"address", "127.0.0.1"}, {"why", "the store is a file: all ranks are on this host"}};
  }
  std::string why = "the route to the store's host " + store;
  if (base::env_string("PARLEY_SOCKET_IFNAME")) why = "PARLEY_SOCKET_IFNAME";
  if (base::env_string("PARLEY_HOST")) why = "PARLEY_HOST";
  return {{"address", socket::own_address(store)}, {"why", why}};
} catch (const Error& error) {
  return {{"problem", error.what()}};
}

Json describe_links(const Json& place) {
  Json links = Json::array();
  links.push_back({{"to", "itself"}, {"link", "inproc"}, {"why", "memory of this process"}});
  if (!is_alone(place))
    links.push_back(
        {{"to", "every other rank"}, {"link", "tcp"}, {"why", "the only link between processes so far"}});
  return links;
}

// No value of a variable that nothing reads: it may be a secret under a name with a slip in it.
Json describe_variables() {
  static constexpr const char* of_launchers[] = {"MASTER_ADDR",
                                                 "MASTER_PORT",
                                                 "RANK",
                                                 "WORLD_SIZE",
                                                 "LOCAL_RANK",
                                                 "LOCAL_WORLD_SIZE",
                                                 "OMPI_COMM_WORLD_RANK",
                                                 "OMPI_COMM_WORLD_SIZE",
                                                 "OMPI_COMM_WORLD_LOCAL_RANK",
                                                 "PMI_RANK",
                                                 "PMI_SIZE",
                                                 "SLURM_PROCID",
                                                 "SLURM_NTASKS",
                                                 "SLURM_LOCALID",
                                                 "SLURM_JOB_ID",
                                                 "SLURM_STEP_ID",
                                                 "SLURM_STEP_NODELIST"};
  Json variables = Json::array();
  for (const char* name : of_launchers)
    if (const auto value = base::env_string(name))
      variables.push_back(variable(name, *value, "from the launcher"));
  const auto known = base::known_variables();
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = std::min(text.find('='), text.size());
    const std::string_view name = text.substr(0, equals);
    if (!name.starts_with("PARLEY_")) continue;
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.name == name; });
    if (found == known.end()) {
      const std::string_view nearest = base::nearest_variable(name);
      variables.push_back(variable(name, "(not shown)",
                                   nearest.empty() ? "unknown: nothing reads it"
                                                   : base::concat("unknown: did you mean ", nearest, "?")));
    } else {
      const bool secret = name == "PARLEY_SECRET";
      variables.push_back(
          variable(name, secret ? "(not shown)" : std::string(text.substr(equals + 1)), found->meaning));
    }
  }
  return variables;
}

}  // namespace parley::info
