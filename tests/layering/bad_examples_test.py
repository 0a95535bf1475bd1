#!/usr/bin/env python3
"""Each repository check accepts a small good tree and names the file, line and rule in a bad one."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"

# A tree in miniature that every check accepts.
GOOD = {
    "CMakeLists.txt": "", "README.md": "", "LICENSE": "", "CMakePresets.json": "",
    "transport/base/CMakeLists.txt": "parley_module(transport/base SOURCES status.cc)\n",
    "transport/base/README.md": "# base\n",
    "transport/base/status.h": "#pragma once\n\n#include <cstdint>\n\nusing Status = std::uint64_t;\n",
    "transport/base/status.cc": '#include "transport/base/status.h"\n',
    "transport/base/include/parley/error.h": "#pragma once\n\n#include <string>\n\nusing Error = std::string;\n",
    "transport/tcp/CMakeLists.txt":
        "parley_module(transport/tcp\n  SOURCES link.cc\n  DEPENDS transport/base transport/socket)\n",
    "transport/tcp/README.md": "# tcp\n",
    "transport/tcp/link.h": '#pragma once\n\n#include "transport/base/status.h"\n\nStatus link();\n',
    "transport/tcp/link.cc":
        '#include "transport/tcp/link.h"\n\n#include "transport/socket/context.h"\n',
    "transport/shm/ring.h": "#pragma once\n",
    "transport/socket/context.h": "#pragma once\n\n#include <asio/version.hpp>\n",
    "api/include/parley/init.h": "#pragma once\n\n#include <parley/error.h>\n\nError init();\n",
    "api/examples/hello.cc": "#include <parley/init.h>\n",
    "api/examples/CMakeLists.txt": "add_executable(hello hello.cc)\n",
}


class Check(unittest.TestCase):
    def run_check(self, name, changes, *arguments):
        """Exit status and output of a check over the good tree with some files changed."""
        with tempfile.TemporaryDirectory() as folder:
            for path, text in {**GOOD, **changes}.items():
                file = Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            command = [sys.executable, "-B", TOOLS / f"check_{name}.py", "--root", folder, *arguments]
            result = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return result.returncode, result.stdout

    def assert_accepted(self, name, changes=None, *arguments):
        status, output = self.run_check(name, changes or {}, *arguments)
        self.assertEqual(status, 0, output)

    def assert_found(self, name, changes, *expected, arguments=()):
        status, output = self.run_check(name, changes, *arguments)
        self.assertNotEqual(status, 0, output)
        for words in expected:
            self.assertIn(words, output)


class Layers(Check):
    def test_good_tree(self):
        self.assert_accepted("layers")

    def test_adapter(self):
        adapter = {"api/asio/include/parley/asio.h": "#pragma once\n\n#include <parley/init.h>\n#include <unistd.h>\n\n"
                                                     "#include <asio/post.hpp>\n"}
        self.assert_accepted("layers", adapter)
        self.assert_found("layers", {**adapter, "api/include/parley/init.h": "#include <parley/asio.h>\n"},
                          "api/include/parley/init.h:1:", "an adapter is for those who use it")
        self.assert_found("layers", {"api/asio/include/parley/asio.h": '\n#include "api/wireup/world.h"\n',
                                     "api/wireup/world.h": "#pragma once\n"},
                          "asio.h:2:", "an adapter uses what a user can")

    def test_upwards(self):
        self.assert_found("layers", {"transport/base/status.cc": '\n#include "transport/tcp/link.h"\n'},
                          "transport/base/status.cc:2:", "only api/wireup names concrete transports")
        self.assert_found("layers", {"transport/base/status.cc": "#include <parley/init.h>\n"},
                          "layer 0 may not include layer 6")

    def test_transports_apart(self):
        self.assert_found("layers", {"transport/tcp/link.cc": '#include "transport/shm/ring.h"\n'},
                          "transport/tcp/link.cc:1:", "transports never include each other")

    def test_transport_knows_no_tensor(self):
        self.assert_found("layers", {"tensor/view.h": "#pragma once\n",
                                     "transport/tcp/link.cc": '#include "tensor/view.h"\n'},
                          "know neither tensor nor store")

    def test_example_sees_what_users_see(self):
        self.assert_found("layers", {"api/wireup/world.h": "#pragma once\n",
                                     "api/examples/hello.cc": '#include "api/wireup/world.h"\n'},
                          "an example includes what a user can")

    def test_public_header(self):
        self.assert_found("layers", {"api/include/parley/init.h": "#include <sys/socket.h>\n"},
                          "api/include/parley/init.h:1:", "standard library only")
        self.assert_found("layers", {"api/include/parley/init.h": '#include "transport/base/status.h"\n'},
                          "a public header includes public headers only")

    def test_foreign_header(self):
        self.assert_found("layers", {"transport/base/status.cc": "#include <openssl/hmac.h>\n"},
                          "transport/base/status.cc:1:", "not for transport/base")

    def test_foreign_header_by_a_detour(self):
        self.assert_found("layers", {"transport/tcp/link.h": '#include "transport/socket/context.h"\n'},
                          "transport/tcp/link.h:1:", "brings in a foreign header")

    def test_unknown_names(self):
        self.assert_found("layers", {"transport/tcp/link.cc": '#include "link.h"\n'}, "no such file")
        self.assert_found("layers", {"transport/pigeon/coop.h": "#pragma once\n"}, "not in the layer table")
        self.assert_found("layers", {"api/examples/hello.cc": '#include "api/include/parley/init.h"\n'},
                          "public headers as <parley/...>")

    def test_depends(self):
        self.assert_found("layers", {"transport/tcp/CMakeLists.txt":
                                     "\nparley_module(transport/tcp SOURCES link.cc DEPENDS transport/base)\n"},
                          "transport/tcp/link.cc:3:", "transport/socket is missing in DEPENDS of transport/tcp")
        self.assert_found("layers", {"transport/base/CMakeLists.txt":
                                     "\nparley_module(transport/base SOURCES status.cc DEPENDS api)\n"},
                          "transport/base/CMakeLists.txt:2:", "layer 0 may not include layer 6")


class Layout(Check):
    def test_good_tree(self):
        self.assert_accepted("layout")

    def test_long_files(self):
        self.assert_found("layout", {"transport/base/status.cc": "\n" * 401}, "transport/base/status.cc:401:")
        self.assert_found("layout", {"transport/tcp/README.md": "\n" * 101}, "transport/tcp/README.md:101:")

    def test_missing_readme(self):
        self.assert_found("layout", {"tensor/CMakeLists.txt": "parley_module(tensor SOURCES view.cc)\n"},
                          "tensor/README.md:1: missing")

    def test_stranger_at_the_root(self):
        self.assert_found("layout", {"notes.txt": ""}, "notes.txt:1:")

    def test_source_that_nothing_builds(self):
        self.assert_found("layout", {"transport/tcp/uplink.cc": ""}, "transport/tcp/uplink.cc:1:")


class Errors(Check):
    HEADER = "transport/base/include/parley/error.h"
    CLASSES = "#pragma once\nclass PARLEY_API Error {};\nclass PARLEY_API LostError : public Error {};\n"
    PAGE = "### `Error`\n\nThe base.\n\n### `LostError`\n\n*When*: lost. *Do*: find it. `PARLEY_HOST`\n"
    TABLE = {"api/README.md": "| `PARLEY_HOST` |\n",
             "transport/base/env.cc": '    KnownVariable{"PARLEY_HOST", "address"},\n'}

    def test_good_tree(self):
        self.assert_accepted("errors", {self.HEADER: self.CLASSES, "api/ERRORS.md": self.PAGE, **self.TABLE})

    def test_error_without_a_section(self):
        self.assert_found("errors", {self.HEADER: self.CLASSES + "class PARLEY_API NewError : public Error {};\n",
                                     "api/ERRORS.md": self.PAGE, **self.TABLE}, "error.h:4: NewError has no section")

    def test_section_without_advice(self):
        page = self.PAGE.replace("*Do*: find it.", "").replace("_HOST", "_HOTS")
        self.assert_found("errors", {self.HEADER: self.CLASSES, "api/ERRORS.md": page, **self.TABLE},
                          "api/ERRORS.md:5: LostError is not explained: *Do*", "PARLEY_HOTS is not in the table")


    def test_variable_that_is_nowhere(self):
        code = self.TABLE["transport/base/env.cc"] + '    KnownVariable{"PARLEY_PORT",\n "port"},\n'
        self.assert_found("errors", {self.HEADER: self.CLASSES, "api/ERRORS.md": self.PAGE, **self.TABLE,
                                     "transport/base/env.cc": code},
                          "env.cc:2: PARLEY_PORT is not in the table", "env.cc:2: PARLEY_PORT is no error's remedy")

    def test_page_that_has_lost_a_remedy(self):
        page = self.PAGE.replace(" `PARLEY_HOST`", "")
        self.assert_found("errors", {self.HEADER: self.CLASSES, "api/ERRORS.md": page, **self.TABLE},
                          "env.cc:1: PARLEY_HOST is no error's remedy in api/ERRORS.md")


class Headers(Check):
    # Quick to compile, as the headers of the small tree are.
    YARDSTICK = ("--yardstick", "<string>", "--max-times", "10")
    EVERY_HEADER = ("--all", *YARDSTICK)

    def test_good_tree(self):
        self.assert_accepted("headers", {}, "--public-compiler", "clang++", *self.EVERY_HEADER)

    def test_yardstick(self):
        self.assert_accepted("headers", {})
        self.assert_found("headers", {}, "<ruler>, by which c++ is measured, does not compile",
                          arguments=("--yardstick", "<ruler>"))

    def test_header_that_leans_on_another(self):
        self.assert_found("headers", {"transport/shm/ring.h": "#pragma once\nstd::string name();\n"},
                          "transport/shm/ring.h:1: does not compile alone", arguments=self.EVERY_HEADER)

    def test_header_that_leans_on_what_includes_it(self):
        self.assert_found("headers", {"transport/shm/ring.h": '#pragma once\n#include <string>\n#include "transport/shm/slot.h"\n',
                                      "transport/shm/slot.h": "#pragma once\nstd::string name();\n"},
                          "transport/shm/slot.h:1: does not compile alone", arguments=self.EVERY_HEADER)

    def test_header_that_includes_what_includes_it(self):
        self.assert_found("headers", {"transport/shm/ring.h": '#pragma once\n#include "transport/shm/slot.h"\nstd::string a();\n',
                                      "transport/shm/slot.h": '#pragma once\n#include "transport/shm/ring.h"\n'},
                          "transport/shm/ring.h:1: does not compile alone", arguments=self.EVERY_HEADER)

    def test_header_of_a_test_that_leans_on_another(self):
        self.assert_found("headers", {"tests/unit/shm/rings.h": "#pragma once\nstd::string name();\n"},
                          "tests/unit/shm/rings.h:1: does not compile alone", arguments=self.EVERY_HEADER)

    def test_slow_public_header(self):
        self.assert_found("headers", {}, "error.h:1: takes", "at most 0.0001", arguments=("--yardstick", "<string>", "--max-times", "0.0001"))

    def test_only_clang_complains(self):
        self.assert_found("headers", {"api/include/parley/init.h": "#pragma once\n#ifdef __clang__\n#error no\n#endif\n"},
                          "init.h:1: does not compile alone with clang++", arguments=("--public-compiler", "clang++", *self.YARDSTICK))

    def test_public_header_that_needs_a_private_one(self):
        self.assert_found("headers", {"api/include/parley/init.h": '#include "transport/base/status.h"\n'},
                          "api/include/parley/init.h:1: does not compile alone", arguments=self.YARDSTICK)


class Format(Check):
    def test_good_tree(self):
        self.assert_accepted("format")

    def test_bad_style(self):
        self.assert_found("format", {"transport/base/status.cc": "int  f( ){return 1 ;}\n"},
                          "transport/base/status.cc:1:")


if __name__ == "__main__":
    unittest.main()
