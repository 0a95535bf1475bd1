"""What the repository checks share: the source files, their module folders, and how a finding is reported."""

import argparse
import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE_FOLDERS = ["transport", "rendezvous", "tensor", "api", "bench", "tests", "tools"]


class Findings:
    """Collects what is wrong; each line starts with file:line, so that an editor can jump there."""

    def __init__(self):
        self.lines = []

    def add(self, path, line, message):
        self.lines.append((str(path), line, message))

    def exit(self, what, count):
        for path, line, message in sorted(self.lines):
            print(f"{path}:{line}: {message}", file=sys.stderr)
        print(f"{what}: {count} files checked, {len(self.lines)} findings")
        sys.exit(1 if self.lines else 0)


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", type=Path, default=ROOT, help="the tree to check (default: this repository)")
    return parser


def files(root, *suffixes):
    """Files under the source folders whose name ends in one of the suffixes, relative to the root, sorted."""
    found = []
    for folder in SOURCE_FOLDERS:
        for directory, names, entries in os.walk(root / folder):
            names[:] = [name for name in names if not name.startswith((".", "__"))]
            found += [Path(directory, entry).relative_to(root) for entry in entries if entry.endswith(suffixes)]
    return sorted(found)


def sources(root):
    return files(root, ".h", ".cc", ".cu", ".cuh")


def require(program, package):
    if not shutil.which(program):
        sys.exit(f"{program} is not installed: apt-get install {package}")


def is_public_header(path):
    return "include" in path.parts and path.suffix == ".h"


def module_of(path):
    """The module folder a file belongs to: two levels under transport and api, else the top folder, but for a part of
    the tools that the benchmarks use, too."""
    parts = path.parts
    if parts[0] == "transport":
        return "/".join(parts[:2])
    if parts[0] == "api" and len(parts) > 2 and parts[1] != "include":
        return "/".join(parts[:2])
    return "tools/figures" if parts[:2] == ("tools", "figures") else parts[0]
