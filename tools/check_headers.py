#!/usr/bin/env python3
"""Each header compiles alone; public ones as a user sees them: only <parley/...>, warnings as errors."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import check_common

COMMON = ["-std=c++20", "-fsyntax-only", "-x", "c++", "-Wall", "-Wextra", "-Werror"]
PUBLIC = ["-Wpedantic", "-Wshadow", "-Wconversion", "-Wnon-virtual-dtor", "-Woverloaded-virtual"]
# As tools/cmake/ParleyDependencies.cmake says for Asio.
PRIVATE = ["-DASIO_STANDALONE", "-DASIO_NO_DEPRECATED", "-Wno-unused-function"]


def name_for_include(path):
    if check_common.is_public_header(path):
        return f"<{Path(*path.parts[path.parts.index('include') + 1:])}>"
    return f'"{path}"'


def compile_alone(root, compiler, path, folders):
    """The compiler's words about a file that includes nothing but this header; None if there are none."""
    public = check_common.is_public_header(path)
    command = [compiler, *COMMON, *(PUBLIC if public else PRIVATE), *(f"-I{root / folder}" for folder in folders)]
    if not public:
        command.append(f"-I{root}")
    result = subprocess.run([*command, "-"], input=f"#include {name_for_include(path)}\n", text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.stdout or "the compiler failed silently" if result.returncode else None


def main():
    parser = check_common.arguments(__doc__)
    parser.add_argument("--compiler", default="c++", help="for every header (default: c++)")
    parser.add_argument("--public-compiler", action="append", default=[], help="also for the public headers")
    options = parser.parse_args()
    for compiler in [options.compiler, *options.public_compiler]:
        check_common.require(compiler, "g++ clang")

    headers = check_common.files(options.root, ".h")
    public = [path for path in headers if check_common.is_public_header(path)]
    folders = sorted({Path(*path.parts[:path.parts.index("include") + 1]) for path in public})
    jobs = [(options.compiler, path) for path in headers]
    jobs += [(compiler, path) for compiler in options.public_compiler for path in public]

    findings = check_common.Findings()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outputs = pool.map(lambda job: compile_alone(options.root, *job, folders), jobs)
        for (compiler, path), output in zip(jobs, outputs):
            if output:
                findings.add(path, 1, f"does not compile alone with {compiler}\n{output}")
    findings.exit("headers", len(headers))


if __name__ == "__main__":
    main()
