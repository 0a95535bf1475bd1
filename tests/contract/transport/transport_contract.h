#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "tests/contract/transport/party.h"
#include "tests/contract/transport/transport_world.h"

namespace parley::transport::contract {

// The suite that every transport passes: what transport/interface promises, one test per promise. A transport
// joins with a TransportWorld and one line:
//
//   INSTANTIATE_TEST_SUITE_P(Inproc, TransportContract, testing::ValuesIn(both_drives("Inproc", make)),
//   case_name);
class TransportContract : public testing::TestWithParam<ContractCase> {
 protected:
  TransportContract() : world_(GetParam().make_world()) {}

  // Parties numbered 0 to count - 1, without links.
  void make_parties(std::size_t count);
  // The same with one link per pair, dialled by the lower number.
  void make_linked(std::size_t count);
  void link(std::size_t from, std::size_t to);

  void run_until(const std::function<bool(Party&)>& finished) {
    contract::run_until(parties_, GetParam().drive, finished);
  }
  // Drives everybody in this thread, whatever the parameter says.
  void run_in_turn(const std::function<bool(Party&)>& finished) {
    contract::run_until(parties_, Drive::one_thread, finished);
  }
  // A number of rounds without a goal: what must not happen gets its chance.
  void run_idle();

  Party& party(std::size_t index) { return *parties_[index]; }
  // The first link of `from` to `to`.
  CheckedLink& link_of(std::size_t from, std::size_t to) {
    return *parties_[from]->link_to(static_cast<PeerId>(to));
  }
  // Sends until the link refuses, in this thread, while nobody else moves. Returns how many it took.
  std::size_t fill(CheckedLink& link, std::size_t bytes);
  // The same with the largest packets, until one of them waits for its completion. A refusal for another
  // reason than room is waited for.
  std::size_t fill_to_pending(std::size_t from, std::size_t to);

  const std::unique_ptr<TransportWorld> world_;
  Parties parties_;
};

inline std::string case_name(const testing::TestParamInfo<ContractCase>& info) {
  return info.param.name;
}

}  // namespace parley::transport::contract
