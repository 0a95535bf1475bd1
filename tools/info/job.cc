// What the job's variables make of this process: its place, secret, address and links.
#include <parley/error.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "api/wireup/link_settings.h"
#include "rendezvous/discovery.h"
#include "rendezvous/launchers.h"
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

// The store's connections prove another one, in which the job has a part: what a refusal there names.
Json told(const std::string& from, const std::string& secret, const Json& place) {
  Json json = {{"from", from}, {"key_id", key_id_of(secret)}};
  if (place.contains("store_host"))
    json["store_key_id"] = key_id_of(socket::secret_of_job(secret, place.value("job", "")));
  return json;
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
  if (!socket::resolve_settings({}).authenticate)
    return {{"from", "nowhere: PARLEY_AUTH=off, whoever comes is let in"}};
  if (const auto secret = socket::secret_of_file())
    return told("the file that PARLEY_SECRET_FILE names", *secret, place);
  if (const auto secret = base::env_string("PARLEY_SECRET")) return told("PARLEY_SECRET", *secret, place);
  const std::string path = socket::cookie_path();
  if (!std::filesystem::exists(path))
    return {{"from", base::concat("the cookie file ", path, ", which the first init() makes")}};
  return told("the cookie file " + path, socket::read_or_make_cookie(path), place);
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

// What makes it impossible to say is a problem elsewhere in the report.
Json describe_links(const Json& place) {
  Json links = Json::array();
  links.push_back({{"to", "itself"}, {"link", "inproc"}, {"why", "memory of this process"}});
  if (is_alone(place)) return links;
  Json link = {{"to", "every other rank"}, {"link", "unknown"}};
  try {
    const wireup::TransportChoice choice = wireup::chosen_transports();
    link["link"] = !choice.shm ? "tcp" : choice.tcp ? "shm on this host, else tcp" : "shm";
    link["why"] = base::env_string("PARLEY_TRANSPORTS") ? "PARLEY_TRANSPORTS" : "the default";
    link["tls"] = socket::resolve_settings({}).encrypt;
    if (place.contains("world_size")) link["on_demand"] = place["world_size"] > wireup::full_mesh_limit();
  } catch (const Error& error) {
    link["why"] = base::concat("not all of it can be told: ", error.what());
  }
  links.push_back(std::move(link));
  return links;
}

// No value of a variable that nothing reads: it may be a secret under a name with a slip in it.
// Open MPI's key is one of its own transports'.
Json describe_variables() {
  Json variables = Json::array();
  for (const std::string name : rendezvous::launcher_variables())
    if (const auto value = base::env_string(name.c_str())) {
      const bool secret = name == "OMPI_MCA_orte_precondition_transports";
      variables.push_back(variable(name, secret ? "(not shown)" : *value,
                                   name.starts_with("XDG_") ? "from the system" : "from the launcher"));
    }
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
