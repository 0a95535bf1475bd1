#pragma once

#include "bench/options.h"

namespace parley::bench {

// One rank's whole life: pins itself, joins the world that the environment describes, measures, leaves. Rank
// 0 prints the table on stdout and appends the JSON rows. Throws whatever went wrong.
void rank_main(const Options& options);

}  // namespace parley::bench
