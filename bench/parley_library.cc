#include "bench/parley_library.h"

#include "bench/hand_written.h"
#include "bench/parley_collective.h"
#include "bench/slowed.h"

namespace parley::bench {

std::vector<Contender> ParleyLibrary::collective_contenders(const Stage& stage, CollectiveBuffers& buffers) {
  std::vector<Contender> contenders;
  contenders.push_back(make_collective_contender<SlowedCollective<ParleyCollective>>(
      "parley", stage, buffers, stage.leads, group_, buffers, options_.async));
  if (options_.by_hand) {
    contenders.push_back(
        make_collective_contender<HandWrittenAllReduce>("by hand", stage, buffers, group_, buffers));
  }
  return contenders;
}

}  // namespace parley::bench
