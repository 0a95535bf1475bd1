#include "bench/compare/manual.h"

namespace parley::bench::compare {
namespace {

constexpr std::string_view bench_page = R"(NAME
    parley-bench - measure Parley, the limits of the machine, and other libraries

SYNOPSIS
    parley-bench
    parley-bench OPERATION [OPTIONS]
    parley-bench limits [OPTIONS]
    parley-bench compare [OPTIONS]
    parley-bench tune [OPTIONS]
    parley-bench scale [OPTIONS]
    parley-run -n 2 parley-bench OPERATION [OPTIONS]

DESCRIPTION
    Without an operation: an overview in two minutes. Latency and bandwidth over shared memory and TCP, beside the
    raw limit and the peers that were built; as plots in the terminal, in a few words, and as parley-bench.html in
    the current folder.

    With an operation: measures Parley between pairs of processes (0-1, 2-3, ...) of this host and, in the same
    rounds and between the same processes, a loop without a library; or collectives of all processes. All figures are
    medians over rounds. Compare figures of one run only, and best their ratios: machines drift.

    With --transport shm,tcp, latency, bandwidth and message-rate over both in turns, side by side in one table.

    With --device cuda, the same between buffers on GPUs, beside plain copies by one process.

OPERATIONS
    latency         one message there and one back, blocking; half the time of both
    bandwidth       64 messages at a time in one direction
    bidirectional   64 messages at a time in both directions at once
    message-rate    as bandwidth, counted instead of weighed
    broadcast, reduce, all_reduce, all_gather, reduce_scatter, all_to_all, gather, scatter, barrier
                    calls of a collective by all ranks, one after the other: time of a call, algorithm and bus bandwidth
                    as nccl-tests define them, elements that were wrong, and the algorithm that was taken
    limits          the first four, without Parley: raw loops over shared memory, and which is the fastest
    compare         Parley, MPI, Gloo and the raw limits in one run, in turns: a program of its own kind, with its
                    own options; see parley-bench compare --help
    tune            which algorithm collectives shall take on this machine: writes the file that PARLEY_TUNING names;
                    see parley-bench tune --help
    scale           start-up, groups, store, memory, descriptors, messages, collectives and polling of 2 to 128 ranks,
                    and by which law each grows; see parley-bench scale --help

OPTIONS
    Those of an operation: parley-bench latency --help.

    --version       which Parley this is, in a line
    -h, --help      this page

ENVIRONMENT
    RANK, WORLD_SIZE        set by a launcher: this process is one of its ranks. Without RANK, parley-bench starts
                            its ranks itself.
    PARLEY_BENCH_SLOW=F     makes Parley's exchanges take F times their time, 1 to 100: for tests of
                            compare --compare, which must notice. Never set it otherwise.
    PARLEY_BENCH_NO_SPIN=1  makes the raw loops sleep instead of spinning: for tests of the floor, which must void
                            them. Never set it otherwise.

EXIT STATUS
    0       measured
    1       measuring failed, or compare found something slower
    2       wrong usage, or no device where --device asks for one
    128+N   ended by signal N; compare and the overview report first what there was

EXAMPLES
    parley-bench
    parley-bench latency --transport shm --sizes 8:16M
    parley-bench bandwidth --sizes 64K,1M --json rows.jsonl
    parley-bench all_reduce --ranks 4 --sizes 8:16M --algo ring
    parley-bench bandwidth --device cuda --sizes 8:1G
    parley-bench limits --ops latency --sizes 64K,1M --rewrite
    parley-bench compare --html report.html
    parley-bench tune --output parley.tuning
    parley-bench scale

SEE ALSO
    bench/README.md says how figures are taken and what the JSON rows mean; bench/compare/README.md how systems are
    compared.
)";

constexpr std::string_view compare_page = R"(NAME
    parley-bench compare - Parley, its peers and the raw limits in one run

SYNOPSIS
    parley-bench compare [--ops LIST] [--ranks LIST] [--transport LIST] [--buffers LIST] [--arena]
                         [--sizes SIZES] [--peers LIST] [--peer NAME=PROGRAM]... [--parley PROGRAM]
                         [--rounds N] [--minutes M] [--json FILE] [--csv FILE] [--html FILE] [--svg FOLDER]
                         [--compare FILE [--tolerance PERCENT]] [--at-most TIMES] [--quiet]

DESCRIPTION
    Launches each system for each case in short turns, A B C A B C, another one first in each round, and holds their
    figures against each other round by round. Prints a table for each operation: medians and their spread, Parley's
    time over that of the best peer and of the raw limit, with 95 % intervals, and where the cores were. Below 1
    Parley is faster. Ratios of lines marked MIXED pair rounds with the cores in one place; DISTURBED lines prove
    nothing. The last tables are Markdown, for a README:
    Parley against the best peer alone, with the upper end of the interval; ~ marks what is MIXED, and lines that
    are DISTURBED have no ratio.

    Ctrl-C ends the children and reports what there is.

OPTIONS
    What is measured:
    --ops LIST              latency, bandwidth, bidirectional, message-rate, broadcast, reduce, all_reduce,
                            all_gather, reduce_scatter, all_to_all, gather, scatter, barrier [the first four]
    --ranks LIST            how many processes [2]
    --transport LIST        shm, tcp [both]
    --buffers LIST          kept: senders send the same bytes again; rewritten: they write them anew before each
                            exchange, outside the measured time [both]
    --arena                 over shared memory Parley's buffers are shared tensors, and its limit is the best of all
                            loops; peers' buffers lie where they lie
    --sizes SIZES           bytes: a list, or a range that doubles, such as 8:16M [8,64,512,4K,32K,256K,
                            2M,16M; message-rate: up to 4K]

    Whom with:
    --peers LIST            openmpi, mpich, gloo, raw [those that were built, and raw]
    --peer NAME=PROGRAM     a further peer, any number of them: a program that takes the same arguments and writes
                            the same rows. Another build's parley-bench is one.
    --parley PROGRAM        what is measured as Parley [this program]

    For how long:
    --minutes M             no launch begins later [14]
    --rounds N              rounds [as many as fit into the minutes, 3 to 15; 7 when launches can be so short]

    Reports; a file is replaced:
    --json FILE             rows, one JSON object a line, with the samples of all rounds
    --csv FILE              the same without samples, for spreadsheets
    --html FILE             one page with charts, tables, the machine and the commands; needs nothing else
    --svg FOLDER            each chart as a file
    --quiet                 no progress and no tables on the terminal

    Verdicts; exit status 1 names what failed:
    --compare FILE          rows of an earlier run: names the lines that got slower. Where both runs have the raw
                            limit, times over the limit of the same launch are compared, else microseconds of runs
                            that met the cores in one place. Fails, too, when no line at all could be compared.
    --tolerance PERCENT     by how much all of the interval must be slower [10]
    --at-most TIMES         no line may take more than so many times its raw limit, with all of its interval;
                            fails, too, when no line had a limit
    -h, --help              this page

EXIT STATUS
    0       compared
    1       Parley could not be measured, or a verdict failed
    2       wrong usage; nothing was measured
    128+N   ended by signal N, after reporting what there was

EXAMPLES
    parley-bench compare --html report.html --json base.json
    parley-bench compare --ops latency --ranks 2 --transport shm --sizes 8:1M --minutes 3
    parley-bench compare --compare base.json
    parley-bench compare --peer before=../before/build/bin/parley-bench --peers raw
)";

}  // namespace

std::string_view bench_manual() noexcept {
  return bench_page;
}

std::string_view compare_manual() noexcept {
  return compare_page;
}

}  // namespace parley::bench::compare
