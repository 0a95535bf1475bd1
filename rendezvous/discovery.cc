#include "rendezvous/discovery.h"

#include <parley/error.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "rendezvous/launchers.h"
#include "rendezvous/place_url.h"
#include "rendezvous/slurm.h"
#include "transport/base/log.h"

namespace parley::rendezvous {
namespace {

// PARLEY_STORE of a process that parley-run or spawn() started: they serve the store at MASTER_ADDR, and what
// they say of rank and world size is not to be confused with what an outer launcher said.
constexpr std::string_view served_by_launcher = "launcher";

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Sets the place's rank and world size, checked.
void place_among(Place& place, const Numbers& numbers, std::string_view source) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (numbers.world_size < 1 || numbers.world_size > most)
    throw UsageError(base::concat(source, ": world size must be 1 to ", most, ", not ", numbers.world_size));
  if (numbers.rank < 0 || numbers.rank >= numbers.world_size)
    throw UsageError(base::concat(source, ": rank ", numbers.rank, " is out of range: valid ranks are 0 to ",
                                  numbers.world_size - 1));
  place.rank = static_cast<int>(numbers.rank);
  place.world_size = static_cast<int>(numbers.world_size);
}

// The search for a place in the variables of one process.
class Search {
 public:
  Search(const Numbers& given, const Surroundings& around) : given_(given), around_(around) {}

  Place run() {
    launched_ = around_.text("PARLEY_STORE") == served_by_launcher;
    find_membership();
    if (!membership_ && given_.rank < 0 && given_.world_size < 0 && !names_a_store()) {
      place_.alone = true;
      place_.source = "no variable of parley-run, torchrun, Open MPI, PMI or Slurm is set";
      return place_;
    }
    find_numbers();
    find_store();
    if (!missing_.empty()) throw_missing();
    place_.serves_store = place_.rank == 0 && !place_.store_host.empty() && !launched_;
    place_.source = who_ + where_;
    return place_;
  }

 private:
  [[nodiscard]] bool names_a_store() const {
    return around_.has("PARLEY_STORE") || around_.has("MASTER_ADDR") || around_.has("MASTER_PORT");
  }

  void find_membership() {
    if (launched_) {
      membership_ = told_by_torch_names(around_);
      if (membership_) membership_->launcher = "parley-run";
      if (membership_) membership_->job.clear();
      return;
    }
    if ((membership_ = told_by_parley(around_))) return;
    if ((membership_ = told_by_torch_names(around_))) {
      if (membership_->job.empty()) refuse_contradictions();
      return;
    }
    if ((membership_ = told_by_open_mpi(around_)) || (membership_ = told_by_pmi(around_))) return;
    membership_ = told_by_slurm(around_);
  }

  // RANK may be left over from somewhere, and then all ranks of an MPI job would be the same one. That a
  // process of an MPI job starts several ranks is no contradiction.
  void refuse_contradictions() const {
    if (given_.rank >= 0 || given_.world_size >= 0) return;
    for (const auto& mpi : {told_by_open_mpi(around_), told_by_pmi(around_)}) {
      if (!mpi || !mpi->rank || !mpi->world_size || !membership_->rank || !membership_->world_size) continue;
      const bool fits = *membership_->world_size == *mpi->world_size
                            ? *membership_->rank == *mpi->rank
                            : *membership_->world_size > *mpi->world_size;
      if (fits) continue;
      throw UsageError(base::concat("RANK=", *membership_->rank, ", WORLD_SIZE=", *membership_->world_size,
                                    " and ", mpi->rank_name, "=", *mpi->rank, ", ", mpi->size_name, "=",
                                    *mpi->world_size,
                                    " contradict each other: unset those that are left over, or set "
                                    "PARLEY_RANK and PARLEY_WORLD_SIZE"));
    }
  }

  [[nodiscard]] bool by_torch_names() const { return !membership_ || membership_->rank_name == "RANK"; }

  void find_numbers() {
    Numbers numbers;
    if (membership_) {
      if (membership_->rank) numbers.rank = *membership_->rank;
      if (membership_->world_size) numbers.world_size = *membership_->world_size;
    }
    const bool has_rank = given_.rank >= 0 || (membership_ && membership_->rank);
    const bool has_size = given_.world_size >= 0 || (membership_ && membership_->world_size);
    if (!has_rank) missing_.push_back(membership_ ? membership_->rank_name : "RANK");
    if (!has_size) missing_.push_back(membership_ ? membership_->size_name : "WORLD_SIZE");
    if (!missing_.empty()) return;
    own_numbers_ = (given_.rank < 0 || given_.rank == numbers.rank) &&
                   (given_.world_size < 0 || given_.world_size == numbers.world_size);
    if (given_.rank >= 0) numbers.rank = given_.rank;
    if (given_.world_size >= 0) numbers.world_size = given_.world_size;
    place_among(place_, numbers, by_torch_names() ? "env://" : membership_->launcher);
    if (!own_numbers_) {
      who_ = "the program's rank and world size";
      return;
    }
    who_ =
        base::concat(membership_->launcher, " (", membership_->rank_name, ", ", membership_->size_name, ")");
    place_.job = membership_->job;
    take_local_rank();
  }

  void take_local_rank() {
    if (!membership_->local_rank) return;
    if (*membership_->local_rank < 0 || *membership_->local_rank >= place_.world_size)
      throw UsageError(base::concat(membership_->local_rank_name, " must be 0 to ", place_.world_size - 1,
                                    ", not ", *membership_->local_rank));
    place_.local_rank = static_cast<int>(*membership_->local_rank);
  }

  void find_store() {
    const bool needed = !missing_.empty() || place_.world_size > 1;
    if (around_.has("PARLEY_STORE") && !launched_) return read_parley_store();
    if (launched_ || around_.has("MASTER_ADDR") || around_.has("MASTER_PORT")) return read_master();
    if (!needed) {
      where_ = "; a world of one needs no store";
      return;
    }
    if (!membership_ || !missing_.empty() || !own_numbers_) return nowhere();
    if (!membership_->node.empty()) return on_node(*membership_);
    if (membership_->local_rank_name == "OMPI_COMM_WORLD_LOCAL_RANK" || membership_->rank_name == "PMI_RANK")
      return on_this_host();
    nowhere();
  }

  void read_parley_store() {
    const std::string text = around_.text("PARLEY_STORE");
    const std::string source = "PARLEY_STORE=" + text;
    if (!is_store_url(text))
      throw UsageError(source + ": expected tcp://host:port or file:///path (parley-run sets launcher)");
    if (text.find('?') != std::string::npos)
      throw UsageError(source + ": rank and world size belong in PARLEY_RANK and PARLEY_WORLD_SIZE");
    const StoreUrl url = parse_store_url(text, source);
    place_.store_host = url.host;
    place_.store_port = url.port;
    place_.store_path = url.path;
    where_ = "; the store by " + source;
  }

  void read_master() {
    const auto address = around_.variable("MASTER_ADDR");
    const auto port = around_.variable("MASTER_PORT");
    if (!address || !port) return nowhere();
    place_.store_host = without_brackets(*address);
    place_.store_port = parse_port(*port, "MASTER_PORT");
    where_ = base::concat("; the store by MASTER_ADDR=", *address, ", MASTER_PORT=", *port);
    if (launched_) {
      where_ += ", served by parley-run";
    } else if (around_.has("TORCHELASTIC_RUN_ID")) {
      // torchrun's agent serves a store of its own there.
      place_.store_port =
          static_cast<std::uint16_t>(place_.store_port + (place_.store_port < 65535 ? 1 : -1));
      where_ += base::concat(", at port ", place_.store_port, " beside that of torchrun's agent");
    }
  }

  void on_node(const Membership& slurm) {
    place_.store_host = slurm.node;
    place_.store_port = port_for(slurm.job);
    place_.job = slurm.job;
    where_ = base::concat("; the store on the first node of the step, ", slurm.node, ", at port ",
                          place_.store_port, " made of job and step");
  }

  // In a file, when we know that all ranks can see it.
  void on_this_host() {
    const bool here = membership_->local_size == membership_->world_size && !membership_->host_key.empty();
    if (here) {
      place_.store_key = membership_->host_key;
      where_ = "; the store in a file, for all ranks are on this host";
      return;
    }
    const auto slurm = around_.has("SLURM_STEP_NUM_TASKS") ? told_by_slurm(around_) : std::nullopt;
    if (membership_->rank_name == "PMI_RANK" && slurm && !slurm->node.empty() &&
        slurm->rank == membership_->rank && slurm->world_size == membership_->world_size)
      return on_node(*slurm);
    throw UsageError(base::concat(membership_->launcher, ": ", place_.world_size, " ranks, ",
                                  membership_->local_size
                                      ? base::concat(*membership_->local_size, " of them on this host")
                                      : std::string("and nothing tells how many are on this host"),
                                  ", cannot find each other without an address: set "
                                  "PARLEY_STORE=tcp://HOST:PORT for all of them, HOST being "
                                  "that of rank 0 (",
                                  membership_->advice, ")"));
  }

  void nowhere() {
    if (!around_.has("MASTER_PORT")) missing_.insert(missing_.begin(), "MASTER_PORT");
    if (!around_.has("MASTER_ADDR")) missing_.insert(missing_.begin(), "MASTER_ADDR");
  }

  [[noreturn]] void throw_missing() const {
    if (around_.has("PARLEY_STORE") && !launched_)
      throw UsageError(
          base::concat("PARLEY_STORE is set, but not who this process is: set PARLEY_RANK and "
                       "PARLEY_WORLD_SIZE; not set: ",
                       join(missing_)));
    if (!by_torch_names())
      throw UsageError(base::concat(
          membership_->rank_name, " and ", membership_->size_name, " need each other and an address, ",
          "PARLEY_STORE=tcp://host:port or file:///path or MASTER_ADDR and MASTER_PORT; not set: ",
          join(missing_)));
    throw UsageError(base::concat("env:// needs MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE; not set: ",
                                  join(missing_), " (parley-run sets them all)"));
  }

  const Numbers given_;
  const Surroundings& around_;
  bool launched_ = false;
  std::optional<Membership> membership_;
  bool own_numbers_ = false;  // rank and world size are those of the membership
  std::vector<std::string> missing_;
  std::string who_;
  std::string where_;
  Place place_;
};

// tcp://host:port?rank=R&world_size=N, file:///path?rank=R&world_size=N
Place from_url(std::string_view text, const Numbers& given) {
  const StoreUrl url = parse_store_url(text, text);
  Place place;
  place.source = text;
  place.store_host = url.host;
  place.store_port = url.port;
  place.store_path = url.path;
  Numbers numbers = url.numbers;
  if (given.rank >= 0) numbers.rank = given.rank;
  if (given.world_size >= 0) numbers.world_size = given.world_size;
  std::vector<std::string> missing;
  if (numbers.rank < 0) missing.emplace_back("rank");
  if (numbers.world_size < 0) missing.emplace_back("world_size");
  if (!missing.empty()) throw UsageError(base::concat(text, ": missing parameters: ", join(missing)));
  place_among(place, numbers, text);
  place.serves_store = place.rank == 0 && place.store_path.empty();
  return place;
}

}  // namespace

Place discover(std::string_view method, int rank, int world_size, const Surroundings& around) {
  const Numbers given{rank, world_size};
  if (method == "env://") return Search(given, around).run();
  if (is_store_url(method)) return from_url(method, given);
  throw UsageError(base::concat("unknown init method '", method,
                                "'; known: env://, tcp://host:port?rank=R&world_size=N, "
                                "file:///path?rank=R&world_size=N"));
}

}  // namespace parley::rendezvous
