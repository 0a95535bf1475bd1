#!/usr/bin/env python3
"""Small files, a README in every module folder, nothing strange at the root, no source that nothing builds."""

import re

import check_common

MAX_LINES = 400
MAX_README_LINES = 100
ROOT_FOLDERS = set(check_common.SOURCE_FOLDERS)
ROOT_FILES = {"CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md"}
# Not the repository's: what git or a build lays beside it.
IGNORED = re.compile(r"^(\..*|build(-.*)?|shared|compile_commands\.json)$")


def line_count(path):
    return len(path.read_bytes().splitlines())


def check_sizes(root, findings):
    paths = check_common.files(root, ".h", ".cc", ".cu", ".cuh", ".py", ".cmake", ".sh", "CMakeLists.txt", ".md")
    for path in paths:
        limit = MAX_README_LINES if path.name == "README.md" else MAX_LINES
        count = line_count(root / path)
        if count > limit:
            findings.add(path, limit + 1, f"{count} lines: at most {limit}")
    return len(paths)


def check_readmes(root, findings):
    """Each folder that makes a module explains itself, and so do those of the programs."""
    folders = {root / folder for folder in ("bench", "tests", "tools") if (root / folder).is_dir()}
    for path in check_common.files(root, "CMakeLists.txt"):
        if re.search(r"^parley_module\(", (root / path).read_text(), re.MULTILINE):
            folders.add((root / path).parent)
    for folder in sorted(folders):
        if not (folder / "README.md").exists():
            findings.add(folder.relative_to(root) / "README.md", 1, "missing: every module folder has one")


def check_root(root, findings):
    for entry in sorted(root.iterdir()):
        allowed = ROOT_FOLDERS if entry.is_dir() else ROOT_FILES
        if entry.name not in allowed and not IGNORED.match(entry.name):
            findings.add(entry.name, 1, "nothing else stands at the root: see the map in README.md")


def check_built(root, findings):
    """A source file is named, with or without suffix, in the CMakeLists.txt of its folder or of one above."""
    for path in check_common.files(root, ".cc", ".cu"):
        for folder in path.parents:
            cmake = root / folder / "CMakeLists.txt"
            name = re.escape(path.relative_to(folder).with_suffix("").as_posix())
            suffix = re.escape(path.suffix)
            if cmake.exists() and re.search(rf"(?:(?<![\w/.])|(?<=}}/)){name}({suffix})?(?![\w/.])", cmake.read_text()):
                break
        else:
            findings.add(path, 1, "no CMakeLists.txt names this file")


def main():
    root = check_common.arguments(__doc__).parse_args().root
    findings = check_common.Findings()
    count = check_sizes(root, findings)
    check_readmes(root, findings)
    check_root(root, findings)
    check_built(root, findings)
    findings.exit("layout", count)


if __name__ == "__main__":
    main()
