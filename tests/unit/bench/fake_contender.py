#!/usr/bin/env python3
"""Stands for a system in tests of `parley-bench compare`: writes rows of a made-up machine, or misbehaves.

FAKE_BEHAVIOUR: rows (default), late at first, hang, fail, unsupported, silent, garbage. The figures depend on the
arguments alone, but for a little noise that differs from launch to launch, and is the same in every test.
"""

import argparse
import json
import os
import sys
import time
import zlib

WINDOWED = ("bandwidth", "bidirectional", "message-rate")


def size_in_bytes(text):
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return int(text[:-1]) * units[text[-1]] if text[-1] in units else int(text)


def limit_us(options, size):
    """Per message or call, on a machine with 10 GB/s in memory and 4 GB/s over loopback."""
    hop, speed = (0.06, 10e3) if options.transport == "shm" else (5.5, 4e3)
    if options.op in WINDOWED:
        hop /= 5
    return hop * options.ranks / 2 + size / speed


def noise(options, launch, *what):
    """Within 3 %, the same for the same launch."""
    return 1 + 0.06 * (zlib.crc32(repr((options.seed, launch, what)).encode()) % 1000 / 1000 - 0.5)


def row_of(options, size, launch):
    is_parley = options.system == "parley"
    limit = limit_us(options, size) * noise(options, launch, "limit", size)
    us = limit_us(options, size) * options.factor * noise(options, launch, options.system, size)
    is_rate = options.op in WINDOWED
    row = {"schema": "parley-bench/1", "op": options.op, "transport": options.transport, "ranks": options.ranks,
           "bytes": size, "system": options.system, "rounds": options.rounds, "median_us": us, "p99_us": us * 1.5,
           "lo_us": us * 0.98, "hi_us": us * 1.1, "mb_per_s": size / us if is_rate else None,
           "msg_per_s": 1e6 / us if is_rate else None, "limit_us": None, "limit_mb_per_s": None,
           "probe_ns": options.probe_ns, "ratio_to_limit": None, "ratio_to_best_peer": None, "core_share": 1.0,
           "rounds_left_out": 0, "buffers": "rewritten" if options.rewrite else "kept", "void": None}
    if is_parley:
        slow = limit * options.limit_factor
        row["limit_mb_per_s" if is_rate else "limit_us"] = size / slow if is_rate else slow
    return row


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("op")
    for name, kind in (("ranks", int), ("transport", str), ("sizes", str), ("rounds", int), ("round-ms", float),
                       ("json", str)):
        parser.add_argument("--" + name, type=kind, required=True)
    parser.add_argument("--rewrite", action="store_true")
    # Of the fake alone.
    parser.add_argument("--system", default="parley")
    parser.add_argument("--factor", type=float, default=2)
    parser.add_argument("--limit-factor", type=float, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--probe-ns", type=float, default=60)
    parser.add_argument("--counter", required=True, help="a file that counts launches")
    return parser.parse_args()


def count_launches(path):
    with open(path, "a+") as file:
        file.write(".")
        file.seek(0)
        return len(file.read())


def main():
    if sys.argv[1:] == ["--version"]:
        print("fake 1.0")
        return
    options = arguments()
    launch = count_launches(options.counter)
    with open(options.counter + ".efforts", "a") as file:
        file.write(f"{options.rounds * options.round_ms}\n")
    behaviour = os.environ.get("FAKE_BEHAVIOUR", "rows")
    if behaviour == "late at first" and launch == 1:
        time.sleep(3)
    if behaviour == "hang":
        time.sleep(3600)
    if behaviour == "fail":
        sys.exit("first words\nthe fake has failed")
    if behaviour == "unsupported":
        print("fake: the fake does no " + options.op + "\nRun fake --help for more.", file=sys.stderr)
        sys.exit(2)
    with open(options.json, "a") as file:
        if behaviour == "garbage":
            file.write("no row\n")
        if behaviour in ("rows", "late at first"):
            for size in options.sizes.split(","):
                file.write(json.dumps(row_of(options, size_in_bytes(size), launch)) + "\n")


main()
