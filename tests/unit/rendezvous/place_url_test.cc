#include "rendezvous/place_url.h"

#include <gtest/gtest.h>
#include <parley/error.h>

#include <string>

#include "rendezvous/discovery.h"
#include "tests/unit/rendezvous/pretended.h"

namespace parley::rendezvous {
namespace {

TEST(FileUrl, NamesAFileWithItsAbsolutePath) {
  const Place place = discover("file:///tmp/a b/store?rank=0&world_size=2", -1, -1, pretend({}));
  EXPECT_EQ(place.store_path, "/tmp/a b/store");
  EXPECT_EQ(place.store_host, "");
  EXPECT_EQ(place.rank, 0);
  EXPECT_EQ(place.world_size, 2);
  EXPECT_FALSE(place.serves_store);
  EXPECT_EQ(discover("file:///x", 1, 2, pretend({})).rank, 1);
}

TEST(FileUrl, MalformedOnesAreRefused) {
  for (const char* url : {"file://", "file:///", "file://host/path", "file:///folder/", "file://relative",
                          "file:///x?rank=0", "file:///x?rank=2&world_size=2", "file:///x?size=1&rank=0",
                          "file:x?rank=0&world_size=1", "FILE:///x?rank=0&world_size=1"})
    EXPECT_THROW(discover(url, -1, -1, pretend({})), UsageError) << url;
}

TEST(StoreUrl, NamesWhereItIsFrom) {
  try {
    parse_store_url("tcp://host:x", "PARLEY_STORE=tcp://host:x");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()),
              "PARLEY_STORE=tcp://host:x: a port is a number from 1 to 65535, not 'x'");
  }
}

}  // namespace
}  // namespace parley::rendezvous
