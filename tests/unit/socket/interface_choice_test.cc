#include "transport/socket/interface_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parley/error.h>

#include <set>

namespace parley::socket {
namespace {

using Addresses = std::vector<InterfaceAddress>;

const Addresses host{{"lo", "127.0.0.1", true, true},
                     {"lo", "::1", true, true},
                     {"eth0", "10.0.0.5"},
                     {"eth0", "fd00::5"},
                     {"eth0", "fe80::5%eth0"},
                     {"eth1", "192.168.7.5"},
                     {"eth10", "192.168.8.5"},
                     {"docker0", "172.17.0.1"},
                     {"ib0", "10.1.0.5", false},
                     {"wlan0", ""}};

InterfaceFilter filter(std::string_view text) {
  return InterfaceFilter::parse(text, "LIST");
}

// The interfaces that are included, whatever is preferred.
std::set<std::string> included(std::string_view text) {
  std::set<std::string> names;
  for (const auto& address : host)
    if (filter(text).place_of(address)) names.insert(address.interface);
  return names;
}

std::string chosen(std::string_view text, std::string_view route = "") {
  return choose_address(filter(text), host, route).value_or("nothing");
}

TEST(InterfaceFilter, AWordIsThePrefixOfAName) {
  using Names = std::set<std::string>;
  EXPECT_EQ(included("eth"), (Names{"eth0", "eth1", "eth10"}));
  EXPECT_EQ(included("eth1"), (Names{"eth1", "eth10"}));
  EXPECT_EQ(included("ib,docker"), (Names{"ib0", "docker0"}));
  EXPECT_EQ(included("th0"), Names{});
  EXPECT_EQ(included("eth01"), Names{});
}

TEST(InterfaceFilter, AfterAnEqualsSignNamesAreWhole) {
  using Names = std::set<std::string>;
  EXPECT_EQ(included("=eth1"), Names{"eth1"});
  EXPECT_EQ(included("=eth0,eth1"), (Names{"eth0", "eth1"})) << "as in NCCL for all that follows";
  EXPECT_EQ(included("=eth0,=eth1"), (Names{"eth0", "eth1"}));
  EXPECT_EQ(included("docker,=eth1"), (Names{"docker0", "eth1"}));
  EXPECT_EQ(included("=eth"), Names{});
}

TEST(InterfaceFilter, ACaretExcludesWhatFollows) {
  using Names = std::set<std::string>;
  EXPECT_EQ(included("^docker,lo"), (Names{"eth0", "eth1", "eth10", "ib0", "wlan0"}));
  EXPECT_EQ(included("^docker,^lo"), included("^docker,lo"));
  EXPECT_EQ(included("eth,^eth1"), Names{"eth0"});
  EXPECT_EQ(included("eth,^=eth1"), (Names{"eth0", "eth10"}));
  EXPECT_EQ(included("eth,^docker,=eth0,10.1.0.0/16"), (Names{"eth1", "eth10"}));
  EXPECT_EQ(included("^eth,eth0"), (Names{"lo", "docker0", "ib0", "wlan0"})) << "never back to inclusion";
}

TEST(InterfaceFilter, ANetworkIncludesAddresses) {
  EXPECT_EQ(chosen("192.168.0.0/16"), "192.168.7.5");
  EXPECT_EQ(chosen("192.168.8.0/24"), "192.168.8.5");
  EXPECT_EQ(chosen("192.168.8.5"), "192.168.8.5");
  EXPECT_EQ(chosen("192.168.7.4/31"), "192.168.7.5") << "bits that are not a multiple of 8";
  EXPECT_EQ(chosen("192.168.7.6/31"), "nothing");
  EXPECT_EQ(chosen("fd00::/8"), "fd00::5");
  EXPECT_EQ(chosen("fe80::/10"), "fe80::5%eth0");
  EXPECT_EQ(chosen("0.0.0.0/0,^10.0.0.0/8,192.168.0.0/16,127.0.0.1"), "172.17.0.1");
  EXPECT_EQ(chosen("::/0,^fe80::/10"), "fd00::5");
  EXPECT_EQ(chosen("eth0,^10.0.0.0/8"), "fd00::5") << "one address of an interface, not the other";
}

TEST(InterfaceFilter, MistakesAreUsageErrorsThatShowThem) {
  for (const char* text : {"", ",", "eth,", "^", "=", "eth,^,lo"})
    EXPECT_THROW(static_cast<void>(filter(text)), UsageError) << text;
  for (const char* text : {"10.0.0.0/33", "10.0.0.0/", "10.0.0/8", "fd00::/129", "eth0/8", "10.0.0.0/8x",
                           "10.0.0.0/-1", "10.0.0.0/8/8"}) {
    try {
      static_cast<void>(filter(text));
      FAIL() << text;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("LIST: '" + std::string(text) + "' is no network"));
    }
  }
}

TEST(ChooseAddress, PrefersTheRoutesAddressThenItsFamily) {
  EXPECT_EQ(chosen("eth", "192.168.7.5"), "192.168.7.5");
  EXPECT_EQ(chosen("eth", "fe80::5%eth0"), "fe80::5%eth0");
  EXPECT_EQ(chosen("eth0", "fd99::1"), "fd00::5") << "not fe80::5";
  EXPECT_EQ(chosen("eth0", "192.168.7.5"), "10.0.0.5");
  EXPECT_EQ(chosen("eth1,eth0"), "192.168.7.5") << "IPv4 and the first in the list";
}

TEST(ChooseAddress, LoopbackOnlyWhenThereIsNothingElse) {
  EXPECT_EQ(chosen("^docker", "127.0.0.1"), "10.0.0.5");
  EXPECT_EQ(chosen("lo", "127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(chosen("lo", "::1"), "::1");
}

TEST(ChooseAddress, AnInterfaceThatIsDownOrHasNoAddressIsNoChoice) {
  EXPECT_EQ(chosen("ib"), "nothing");
  EXPECT_EQ(chosen("wlan"), "nothing");
  EXPECT_EQ(chosen("none"), "nothing");
}

TEST(ChooseAddress, AnInterfaceWithoutCarrierIsTheLastChoiceButOne) {
  const Addresses unplugged{{"lo", "127.0.0.1", true, true}, {"eth0", "10.0.0.5", true, false, false}};
  EXPECT_EQ(choose_address(filter("^docker"), unplugged, ""), "10.0.0.5");
  Addresses both = unplugged;
  both.push_back({"eth1", "10.1.0.5"});
  EXPECT_EQ(choose_address(filter("eth"), both, "10.0.0.5"), "10.1.0.5");
  EXPECT_EQ(list_interfaces(unplugged), "lo 127.0.0.1; eth0 10.0.0.5 (no carrier)");
}

TEST(ListInterfaces, NamesAllWithTheirAddresses) {
  EXPECT_EQ(list_interfaces(host),
            "lo 127.0.0.1 and ::1; eth0 10.0.0.5 and fd00::5 and fe80::5%eth0; eth1 192.168.7.5; eth10 "
            "192.168.8.5; docker0 172.17.0.1; ib0 10.1.0.5 (down); wlan0 (no address)");
  EXPECT_EQ(list_interfaces({}), "no interface");
}

}  // namespace
}  // namespace parley::socket
