#include "tools/sim/manual.h"

namespace parley::sim {
namespace {

constexpr std::string_view page = R"(NAME
    parley-sim - what Parley's collectives cost on a network that is not there

SYNOPSIS
    parley-sim [--op NAME] [--ranks COUNTS] [--bytes COUNTS] [--element BYTES] [--algorithms LIST]
               [--hosts N | --per-host N] [--rails N] [--rack HOSTS[:TIMES]]
               [--alpha T] [--beta B] [--overhead T] [--near-alpha T] [--near-beta B] [--near-overhead T]
               [--uplink-alpha T] [--gamma B] [--calibrate FILE]
               [--straggler RANK:FACTOR]... [--lose HOST] [--most-steps N]
               [--all] [--json FILE] [--html FILE] [--svg FOLDER] [--quiet]

DESCRIPTION
    Makes the schedules that the library makes, chooses among them as the library chooses, and runs them on paper: each
    rank sends one message at a time and receives one at a time, each message passes its sender, a rail of each of both
    hosts, the uplinks of racks if it leaves one, and its receiver, and shares them with all others. No process is
    started and nothing is sent.

    Prints, for each number of ranks and each size, the least time that any algorithm needs, what the library takes and
    its time, the fastest algorithm and its time. 65 536 ranks take seconds: of ranks that do the same at the same
    time one is looked at.

OPTIONS
    What:
    --op NAME               broadcast, reduce, all_reduce, scatter, gather, all_gather, reduce_scatter, all_to_all,
                            barrier, scan, exscan [all_reduce]
    --ranks COUNTS          8, 8,64, 8:64K (doubles), 8:64K:x4; K, M, G are powers of 1024 [8:1K]
    --bytes COUNTS          sizes as parley-bench counts them: the vector, or the block of one rank [8:16M]
    --element BYTES         of one element [4]
    --algorithms LIST       only these, and what the library takes
    --shared-tensors        callers' buffers are shared tensors, which ranks of one host read where they lie

    Network:
    --per-host N            ranks of a host [1]
    --hosts N               hosts, over which the ranks are spread evenly
    --rails N               adapters of a host, used in turn by its ranks [1]
    --rack HOSTS[:TIMES]    hosts below one switch, whose uplink is TIMES narrower than all of their rails
                            [one switch for all]; 32:3

    Prices; what is not given is the library's own (api/schedule/prices.h), or calibrated:
    --alpha T               latency between hosts: 2.5us
    --beta B                a rail, and one rank's part of it: 25G (bytes a second, powers of 1000) or 40ps (a byte)
    --overhead T            what a message keeps each of its ends busy: 300ns
    --near-alpha T, --near-beta B, --near-overhead T
                            the same within a host
    --uplink-alpha T        further latency of what leaves a rack [500ns]
    --gamma B               folding: 12G, or 80ps a byte
    --calibrate FILE        rows of parley-bench --json: fits the prices by least squares and prints the model's error
                            on each row; latency and collectives of two ranks, and message-rate, without which
                            overheads keep their part of a message's time

    What goes wrong:
    --straggler RANK:FACTOR this rank takes FACTOR times as long for all that it does; may be repeated
    --straggler normal:SIZE:SEED, --straggler exponential:SIZE:SEED
                            every rank takes 1 + x times as long, x drawn with this deviation or mean
    --lose HOST             the same without the ranks of this host, from 0

    How:
    --most-steps N          steps that are simulated for one figure; beyond, the cost that the algorithm promises
                            stands in its place, marked < [12M: about 700 MB, for each of two figures at a time].
                            So it does of more than 256 ranks, where it is many times the time of the fastest
    --all                   times of all algorithms, too
    --json FILE             everything as one JSON object
    --html FILE             one page with maps, charts and tables; needs nothing else
    --svg FOLDER            each chart as a file
    --quiet                 no tables on the terminal
    --version, -h, --help

EXIT STATUS
    0       costed
    1       a report cannot be written
    2       wrong usage; nothing was costed

EXAMPLES
    parley-sim --op all_reduce --ranks 8:64K --bytes 8:1G --per-host 8 --alpha 3us --beta 25G
    parley-sim --ranks 1K --per-host 8 --rails 2 --rack 16:4 --html report.html
    parley-sim --ranks 64 --bytes 1M --straggler 17:3 --lose 2 --per-host 8
    parley-sim --calibrate rows.jsonl --per-host 2    # rows of parley-bench latency, message-rate, all_reduce

SEE ALSO
    tools/sim/README.md: the model, the bound and their sources, and what is left out.
)";

}  // namespace

std::string_view manual() noexcept {
  return page;
}

}  // namespace parley::sim
