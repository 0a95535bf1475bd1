#!/usr/bin/env python3
"""Every C++ file is formatted as .clang-format says."""

import subprocess
import sys

import check_common


def main():
    root = check_common.arguments(__doc__).parse_args().root
    check_common.require("clang-format", "clang-format")
    paths = check_common.sources(root)
    command = ["clang-format", "--dry-run", "-Werror", f"--style=file:{check_common.ROOT / '.clang-format'}"]
    result = subprocess.run(command + [str(path) for path in paths], cwd=root)
    print(f"format: {len(paths)} files checked")
    sys.exit(result.returncode)


if __name__ == "__main__":
    main()
