#!/usr/bin/env python3
"""Each public header compiles alone, as a user sees it: only <parley/...>, warnings as errors, and fast. With --all
each other header, too, and each file of the library: builds put up to twenty together, and would not miss what one
fails to include."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import check_common

COMMON = ["-std=c++20", "-fsyntax-only", "-x", "c++", "-Wall", "-Wextra", "-Werror"]
PUBLIC = ["-Wpedantic", "-Wshadow", "-Wconversion", "-Wnon-virtual-dtor", "-Woverloaded-virtual"]
# Processor time for a public header, with what it includes, as a multiple of what this header takes the same compiler.
# The slowest, <parley/objects.h>, includes it and takes 1.06 (g++) to 1.45 times (clang++) as long.
YARDSTICK = "<nlohmann/json.hpp>"
MAX_TIMES = 1.5
# As tools/cmake/ParleyDependencies.cmake says for Asio, and with everything that the library may have.
PRIVATE = ["-DASIO_STANDALONE", "-DASIO_NO_DEPRECATED", "-DPARLEY_HAS_CUDA=1", "-DPARLEY_HAS_NCCL=1", "-Wno-unused-function",
           # A source that is included is no main file, and kernels have flags of their own.
           "-Wno-unknown-warning-option", "-Wno-subobject-linkage", "-Wno-psabi"]
LIBRARY = {"transport", "rendezvous", "tensor", "api"}

# Headers of the systems that Parley is compared with, of CUDA and of NCCL, which need not be installed, as compilers miss them.
ABSENT = re.compile(r"fatal error: '?(parley_kernel_image\.inc|cuda\.h|cuda_runtime\.h|nccl\.h|mpi\.h|gloo/\S+?\.h)'?(?: file not found|: No such file)")


def name_for_include(path):
    if check_common.is_public_header(path):
        return f"<{Path(*path.parts[path.parts.index('include') + 1:])}>"
    return f'"{path}"'


def is_of_library(path):
    return path.parts[0] in LIBRARY and "examples" not in path.parts


def included_by(root, headers):
    """For each header the headers of the tree that it includes, by way of others, too; but for those that include it in
    their turn."""
    of_name = {name_for_include(path)[1:-1]: path for path in headers}
    names = {path: re.findall(r'^#include [<"]([^>"]+)[>"]', (root / path).read_text(), re.M) for path in headers}
    reached = {}
    for path in headers:
        reached[path], left = set(), [path]
        while left:
            for included in [of_name[name] for name in names[left.pop()] if name in of_name]:
                if included not in reached[path]:
                    reached[path].add(included)
                    left.append(included)
    return {path: {other for other in reached[path] if path not in reached[other]} for path in headers}


def chains(included):
    """The headers as few lists, in each of which a header is included by the next one. Compiled as one text, each is
    compiled as if it were alone: what stands before it, it includes anyway. (Fewest chains: a maximum matching of
    headers and their next ones, by augmenting paths; Fulkerson 1956.)"""
    users = {path: [user for user in included if path in included[user]] for path in included}
    before = {}

    def gets_a_user(path, asked):
        for user in users[path]:
            if user not in asked:
                asked.add(user)
                if user not in before or gets_a_user(before[user], asked):
                    before[user] = path
                    return True
        return False

    ends = [path for path in included if not gets_a_user(path, set())]
    for end in ends:
        chain = [end]
        while chain[0] in before:
            chain.insert(0, before[chain[0]])
        yield chain


def compile_alone(root, compiler, folders, names, flags):
    """What the compiler says about a file that includes nothing but these, if anything, and its seconds."""
    # From the root: a text from a pipe finds what it includes with "..." in the folder of the compiler first.
    command = [compiler, *COMMON, *flags, *(f"-I{root / folder}" for folder in folders)]
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as output:
        source.write("".join(f"#include {name}\n" for name in names).encode())
        source.seek(0)
        process = subprocess.Popen([*command, "-"], cwd=root, stdin=source, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)  # what others do meanwhile counts for nothing
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        words = output.read().decode(errors="replace") or "the compiler failed silently"
    return (words if process.returncode else None), usage.ru_utime + usage.ru_stime


class Headers:
    """Compiles files of a tree and keeps what is found."""

    def __init__(self, root, yardstick, max_times, headers):
        self.root, self.yardstick, self.max_times, self.headers = root, yardstick, max_times, headers
        self.public = [path for path in self.headers if check_common.is_public_header(path)]
        self.folders = sorted({Path(*path.parts[:path.parts.index("include") + 1]) for path in self.public})
        self.findings = check_common.Findings()
        self.absent = set()

    def compile(self, compiler, *paths):
        public = check_common.is_public_header(paths[0])
        return compile_alone(self.root, compiler, self.folders, [name_for_include(path) for path in paths],
                             PUBLIC if public else [*PRIVATE, f"-I{self.root}"])

    def private(self, compiler, chain):
        """A chain of headers, or a source. Of a chain that fails each is compiled, to say which."""
        output, _ = self.compile(compiler, *chain)
        if not output or (len(chain) > 1 and any([self.private(compiler, [path]) for path in chain])):
            return bool(output)
        if missing := ABSENT.search(output):
            self.absent.add(missing[1])
        else:
            before = " and ".join(str(path) for path in chain[:-1])
            how = f"after {before}" if before else "alone"
            self.findings.add(chain[-1], 1, f"does not compile {how} with {compiler}\n{output}")
        return True

    def public_with(self, compiler):
        """The public headers, one after the other, each beside the yardstick if it seems slow."""
        slowest = (0, "")
        yardstick = min(self.yardstick_with(compiler) for _ in range(3))
        for path in self.public:
            output, seconds = self.compile(compiler, path)
            if output:
                self.findings.add(path, 1, f"does not compile alone with {compiler}\n{output}")
                continue
            times = seconds / yardstick
            for _ in range(4):  # a slow moment of the machine
                if times > self.max_times:
                    times = min(times, self.compile(compiler, path)[1] / self.yardstick_with(compiler))
            slowest = max(slowest, (times, name_for_include(path)))
            if times > self.max_times:
                self.findings.add(path, 1, f"takes {compiler} {times:.2f} times as long as {self.yardstick}, "
                                           f"at most {self.max_times:g}")
        return f"slowest public header for {compiler}: {slowest[1]}, {slowest[0]:.2f} times as long as {self.yardstick}"

    def yardstick_with(self, compiler):
        output, seconds = compile_alone(self.root, compiler, [], [self.yardstick], [])
        if output:
            sys.exit(f"{self.yardstick}, by which {compiler} is measured, does not compile\n{output}")
        return seconds


def main():
    parser = check_common.arguments(__doc__)
    parser.add_argument("--compiler", default="c++", help="for every header (default: c++)")
    parser.add_argument("--public-compiler", action="append", default=[], help="also for the public headers")
    parser.add_argument("--all", action="store_true",
                        help="also all other headers, and the library's .cc files")
    parser.add_argument("--yardstick", default=YARDSTICK, help=f"what public headers are compared with (default: {YARDSTICK})")
    parser.add_argument("--max-times", type=float, default=MAX_TIMES,
                        help=f"as long as that a public header may take (default: {MAX_TIMES})")
    options = parser.parse_args()
    options.root = options.root.resolve()
    compilers = {}  # by where they are: c++ is g++ as a rule
    for compiler in [options.compiler, *options.public_compiler]:
        check_common.require(compiler, "g++ clang")
        compilers.setdefault(os.path.realpath(shutil.which(compiler)), compiler)

    headers = [path for path in check_common.files(options.root, ".h")
               if options.all or check_common.is_public_header(path)]
    sources = [path for path in check_common.files(options.root, ".cc") if options.all and is_of_library(path)]
    tree = Headers(options.root, options.yardstick, options.max_times, headers)
    included = included_by(options.root, tree.headers)
    groups = list(chains({path: included[path] - set(tree.public) for path in tree.headers if path not in tree.public}))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        lines = [pool.submit(tree.public_with, compiler) for compiler in compilers.values()]
        for job in [pool.submit(tree.private, options.compiler, group) for group in [*groups, *([s] for s in sources)]]:
            job.result()
    for name in sorted(tree.absent):
        print(f"not compiled: headers that need <{name}>, which is not installed")
    for line in lines:
        print(line.result())
    tree.findings.exit("headers and sources", len(tree.headers) + len(sources))


if __name__ == "__main__":
    main()
