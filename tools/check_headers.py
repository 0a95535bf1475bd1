#!/usr/bin/env python3
"""Each header compiles alone; public ones as a user sees them: only <parley/...>, warnings as errors, and fast. With
--sources, each file of the library, too: builds put a dozen together, and would not miss what one fails to include."""

import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import check_common

COMMON = ["-std=c++20", "-fsyntax-only", "-x", "c++", "-Wall", "-Wextra", "-Werror"]
PUBLIC = ["-Wpedantic", "-Wshadow", "-Wconversion", "-Wnon-virtual-dtor", "-Woverloaded-virtual"]
# Processor time for a public header, with what it includes. The slowest, <parley/objects.h>, takes GCC 12 2.2 s where this
# was written, nearly all of it for nlohmann/json: twice that is room for slower machines.
MAX_SECONDS = 4.4
# As tools/cmake/ParleyDependencies.cmake says for Asio, and with everything that the library may have.
PRIVATE = ["-DASIO_STANDALONE", "-DASIO_NO_DEPRECATED", "-DPARLEY_HAS_CUDA=1", "-DPARLEY_HAS_NCCL=1", "-Wno-unused-function"]
LIBRARY = {"transport", "rendezvous", "tensor", "api"}

# Headers of the systems that Parley is compared with, of CUDA and of NCCL, which need not be installed, as compilers miss them.
ABSENT = re.compile(r"fatal error: '?(parley_kernel_image\.inc|cuda\.h|cuda_runtime\.h|nccl\.h|mpi\.h|gloo/\S+?\.h)'?(?: file not found|: No such file)")


def name_for_include(path):
    if check_common.is_public_header(path):
        return f"<{Path(*path.parts[path.parts.index('include') + 1:])}>"
    return f'"{path}"'


def is_of_library(path):
    return path.parts[0] in LIBRARY and "examples" not in path.parts


def compile_alone(root, compiler, path, folders):
    """What the compiler says about a file that includes nothing but this one, if anything, and its seconds."""
    public = check_common.is_public_header(path)
    command = [compiler, *COMMON, *(PUBLIC if public else PRIVATE), *(f"-I{root / folder}" for folder in folders)]
    if not public:
        command.append(f"-I{root}")
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as output:
        source.write(f"#include {name_for_include(path)}\n".encode())
        source.seek(0)
        process = subprocess.Popen([*command, "-"], stdin=source, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)  # what others do meanwhile counts for nothing
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        words = output.read().decode(errors="replace") or "the compiler failed silently"
    return (words if process.returncode else None), usage.ru_utime + usage.ru_stime


def main():
    parser = check_common.arguments(__doc__)
    parser.add_argument("--compiler", default="c++", help="for every header (default: c++)")
    parser.add_argument("--public-compiler", action="append", default=[], help="also for the public headers")
    parser.add_argument("--sources", action="store_true", help="also the library's .cc files")
    parser.add_argument("--max-seconds", type=float, default=MAX_SECONDS, help="of processor time for a public one")
    options = parser.parse_args()
    for compiler in [options.compiler, *options.public_compiler]:
        check_common.require(compiler, "g++ clang")

    headers = check_common.files(options.root, ".h")
    public = [path for path in headers if check_common.is_public_header(path)]
    folders = sorted({Path(*path.parts[:path.parts.index("include") + 1]) for path in public})
    sources = [path for path in check_common.files(options.root, ".cc") if options.sources and is_of_library(path)]
    jobs = [(options.compiler, path) for path in headers + sources]
    jobs += [(compiler, path) for compiler in options.public_compiler for path in public]

    findings = check_common.Findings()
    absent = set()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outputs = pool.map(lambda job: compile_alone(options.root, *job, folders), jobs)
        slowest = {}
        for (compiler, path), (output, seconds) in zip(jobs, outputs):
            if missing := ABSENT.search(output or ""):
                absent.add(missing[1])
            elif output:
                findings.add(path, 1, f"does not compile alone with {compiler}\n{output}")
            if check_common.is_public_header(path):
                slowest[compiler] = max(slowest.get(compiler, (0, "")), (seconds, name_for_include(path)))
                if seconds > options.max_seconds:
                    findings.add(path, 1, f"takes {compiler} {seconds:.1f} s, at most {options.max_seconds:g} s")
    for name in sorted(absent):
        print(f"not compiled: headers that need <{name}>, which is not installed")
    for compiler, (seconds, name) in slowest.items():
        print(f"slowest public header for {compiler}: {name}, {seconds:.2f} s of processor time")
    findings.exit("headers and sources", len(headers) + len(sources))


if __name__ == "__main__":
    main()
