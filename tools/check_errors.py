#!/usr/bin/env python3
"""api/ERRORS.md explains every error type, when it comes and what to do, and names every variable that is a remedy."""

import re
from pathlib import Path

import check_common

HEADER = Path("transport/base/include/parley/error.h")
PAGE = Path("api/ERRORS.md")
TABLE = Path("api/README.md")
VARIABLES = Path("transport/base/env.cc")
# Known to the library and no error's remedy. All others are one, and have to be on the page.
NO_REMEDY = {"PARLEY_ALGO", "PARLEY_BENCH_NO_SPIN", "PARLEY_BENCH_SLOW", "PARLEY_CACHE_BYTES", "PARLEY_CUDA",
             "PARLEY_DEBUG_SUBSYS", "PARLEY_EAGER_LIMIT", "PARLEY_LOCAL_RANK", "PARLEY_LONG_TESTS", "PARLEY_SPAWN"}
CLASS = re.compile(r"^class (?:PARLEY_API )?(\w+)(?: :|\s*\{)", re.MULTILINE)
NAME = re.compile(r"PARLEY_[A-Z_]*[A-Z]")
KNOWN = re.compile(r'KnownVariable\{"(PARLEY_[A-Z_]*[A-Z])"')
HEADING = re.compile(r"^### `(\w+)`$", re.MULTILINE)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def sections(page):
    """Name, line and text of each type's section."""
    headings = list(HEADING.finditer(page))
    for heading in headings:
        rest = page[heading.end():]
        end = re.search(r"^##", rest, re.MULTILINE)
        yield heading[1], line_of(page, heading.start()), rest[:end.start() if end else None]


def main():
    root = check_common.arguments(__doc__).parse_args().root
    findings = check_common.Findings()
    header, page = (root / HEADER).read_text(), (root / PAGE).read_text()
    variables = set(NAME.findall((root / TABLE).read_text()))
    explained = set()
    for name, line, text in sections(page):
        explained.add(name)
        for part in ("*When*", "*Do*") if name != "Error" else ():
            if part not in text:
                findings.add(PAGE, line, f"{name} is not explained: {part} is missing")
        for variable in sorted(set(NAME.findall(text)) - variables):
            findings.add(PAGE, line, f"{variable} is not in the table of {TABLE}")
        if not re.search(rf"^class (PARLEY_API )?{name}\b", header, re.MULTILINE):
            findings.add(PAGE, line, f"{name} is no class of {HEADER}")
    for match in CLASS.finditer(header):
        if match[1] not in explained:
            findings.add(HEADER, line_of(header, match.start()), f"{match[1]} has no section in {PAGE}")
    code, named = (root / VARIABLES).read_text(), set(NAME.findall(page))
    for match in KNOWN.finditer(code):
        if match[1] not in variables:
            findings.add(VARIABLES, line_of(code, match.start()), f"{match[1]} is not in the table of {TABLE}")
        if match[1] not in named | NO_REMEDY:
            findings.add(VARIABLES, line_of(code, match.start()), f"{match[1]} is no error's remedy in {PAGE}")
    findings.exit("errors", len(explained))


if __name__ == "__main__":
    main()
