#include "rendezvous/slurm.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace parley::rendezvous {
namespace {

TEST(FirstNode, OfEveryFormOfList) {
  const std::pair<const char*, const char*> cases[] = {{"vm", "vm"},
                                                       {"a,b", "a"},
                                                       {"n[3-5,9],x1", "n3"},
                                                       {"n[007,001]", "n007"},
                                                       {"n[01-03,07]-ib,other5", "n01-ib"},
                                                       {"r[1-2]n[04-07]-ib", "r1n04-ib"},
                                                       {"login.example.org", "login.example.org"},
                                                       {"[1-3]", "1"}};
  for (const auto& [list, node] : cases) EXPECT_EQ(first_node(list), node) << list;
}

TEST(FirstNode, MalformedListsHaveNone) {
  for (const char* list :
       {"", ",a", "n[", "n[1", "n[]", "n[a]", "n]1", "n[1-2", "n[-1]", "n[1[2]]", "n[1 2]"})
    EXPECT_FALSE(first_node(list).has_value()) << list;
}

TEST(PortFor, IsTheSameForTheSameAndSpreads) {
  EXPECT_EQ(port_for("slurm 17.2 "), port_for("slurm 17.2 "));
  std::set<int> ports;
  for (int job = 0; job < 1000; ++job) {
    const int port = port_for("slurm " + std::to_string(job) + ".0 ");
    EXPECT_GE(port, 15000);
    EXPECT_LE(port, 31999);
    ports.insert(port);
  }
  EXPECT_GT(ports.size(), 900U);
}

}  // namespace
}  // namespace parley::rendezvous
