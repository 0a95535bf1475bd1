#!/usr/bin/env python3
"""tools/gpu_run counts what passes, fails, is skipped and takes too long; its programs are pretended."""

import platform
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "gpu_run"
DEVICE = "echo driver: pretended; echo CUDA IPC between processes: works"
NO_DEVICE = "echo device: none: no driver; exit 77"


class Bundle(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="parley gpu "))
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copy(SCRIPT, self.folder / "run")
        self.write("needs", f"glibc=2.2\nmachine={platform.machine()}\n")
        self.write("tests.list", "")
        self.write("expected/hello_2.txt", "[Rank 0] a\n[Rank 1] b\n")
        self.write("expected/hello_4.txt", "not asked for\n")
        self.program("tests/gpu_probe", DEVICE)
        self.program("bin/hello", 'test "$*" = "--world-size 2 --device cuda" && echo "[Rank 1] b"; echo "[Rank 0] a"')
        self.program("bin/parley-bench",
                     'echo "figure of $1"; while [ "$1" != --json ]; do shift; done; echo {} >>"$2"')

    def write(self, path, text):
        file = self.folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        return file

    def program(self, path, body):
        self.write(path, f"#!/bin/sh\n{body}\n").chmod(0o755)

    def tests(self, **bodies):
        """Programs by name, each with 5 s and a variable."""
        for name, body in bodies.items():
            self.program(f"tests/{name}", body)
        self.write("tests.list", "".join(f"{name}|5|A=1 B=2|tests/{name} x\n" for name in bodies))

    def run_script(self, *arguments):
        """Exit code, output. No compute-sanitizer is found by this PATH, unless the machine has one of its own."""
        command = [self.folder / "run", "--out", self.folder / "results", *arguments]
        environment = {"PATH": f"{self.folder}/path:/usr/bin:/bin"}
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
        return done.returncode, done.stdout

    def test_counts_all_kinds_of_ends(self):
        self.tests(good='test "$A$B$1" = 12x && echo "[  PASSED  ] 7 tests."', bad="echo why; exit 3",
                   absent="echo skipped: no such thing; exit 77")
        code, output = self.run_script("--only", "probe,tests,examples")
        self.assertEqual(code, 1, output)
        self.assertRegex(output, r"passed +good +7 tests. \d s")
        self.assertRegex(output, r"failed +bad +exit code 3: why")
        self.assertRegex(output, r"skipped +absent +no such thing")
        self.assertRegex(output, r"passed +example hello")
        self.assertIn("3 passed, 1 failed, 1 skipped", output)
        self.assertIn("== bad: exit code 3\nwhy", (self.folder / "results/tests.log").read_text())
        self.assertEqual((self.folder / "results/summary.txt").read_text().splitlines()[-1], output.splitlines()[-1])

    def test_ends_what_takes_too_long_and_skips_what_has_no_time_left(self):
        self.tests(hangs="sleep 60", late="exit 0")
        code, output = self.run_script("--only", "tests", "--seconds", "3")
        self.assertEqual(code, 1, output)
        self.assertRegex(output, r"failed +hangs +took longer than \d s")
        self.assertRegex(output, r"skipped +late +no time was left")

    def test_shows_the_figures_at_the_end(self):
        code, output = self.run_script("--only", "figures")
        self.assertEqual(code, 0, output)
        self.assertIn("figure of all_reduce", output)
        self.assertRegex(output.splitlines()[-1], r"^\d+ passed, 0 failed, 0 skipped in \d+ s\.$")

    def test_notices_another_output_of_an_example(self):
        self.program("bin/hello", "echo something else")
        code, output = self.run_script("--only", "examples")
        self.assertEqual(code, 1)
        self.assertRegex(output, r"failed +example hello +prints something else than expected/hello_2.txt")

    def test_without_a_device_all_is_skipped_in_words(self):
        self.program("tests/gpu_probe", NO_DEVICE)
        self.program("bin/hello", "echo hello: no driver; exit 2")
        self.program("bin/parley-bench", "echo bench: no driver; exit 2")
        self.tests(absent="echo skipped: no device: no driver; exit 77")
        code, output = self.run_script()
        self.assertEqual(code, 77, output)
        self.assertRegex(output, r"skipped +absent +no device: no driver")
        self.assertRegex(output, r"skipped +example hello +hello: no driver")
        self.assertIn("0 passed, 0 failed", output)
        self.assertIn("Nothing was tested on a device: no driver", output)

    def test_runs_a_few_tests_with_compute_sanitizer(self):
        self.program("bin/parley-run", 'test "$1$2$3" = -n2-- && shift 3 && exec "$@"')
        self.program("path/compute-sanitizer", 'echo "with $*"; exit 99')
        code, output = self.run_script("--only", "probe,sanitizer")
        self.assertEqual(code, 1, output)
        self.assertRegex(output, r"failed +compute-sanitizer ping_pong +exit code 99: with --error-exitcode 99 .*/bin/ping_pong --device cuda")
        self.assertRegex(output, r"failed +compute-sanitizer gpu_reduce +exit code 99: with --error-exitcode 99 .*/tests/gpu_reduce")
        self.program("path/compute-sanitizer", "echo Error: Device not supported; exit 1")
        code, output = self.run_script("--only", "probe,sanitizer")
        self.assertEqual(code, 0, output)
        self.assertRegex(output, r"skipped +compute-sanitizer collectives +it does not support this device")

    def test_says_when_the_system_is_too_old(self):
        self.write("needs", f"glibc=99.1\nmachine={platform.machine()}\n")
        code, output = self.run_script()
        self.assertEqual(code, 1)
        self.assertIn("the bundle needs 99.1 or newer", output)
        self.write("needs", "glibc=2.2\nmachine=abacus\n")
        self.assertIn("This bundle is for abacus", self.run_script()[1])

    def test_refuses_what_it_does_not_know(self):
        for arguments in (["--fast"], ["--seconds", "many"], ["--seconds"]):
            self.assertEqual(self.run_script(*arguments)[0], 2, arguments)
        self.assertEqual(self.run_script("--help")[0], 0)


if __name__ == "__main__":
    unittest.main()
