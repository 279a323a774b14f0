"""scripts/report.py, which has the last word on whether the tests passed, on results that are made up."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from xml.sax.saxutils import escape

SOURCE = pathlib.Path(os.environ["WASINN_SOURCE"])


def gtest(cases, ran=None):
    lines = []
    for name, how in cases:
        lines += [f"[ RUN      ] {name}", f"output of {name}"]
        lines += {"OK": [f"[       OK ] {name} (3 ms)"], "FAILED": [f"[  FAILED  ] {name}, where GetParam() = 4 (3 ms)"],
                  "SKIPPED": ["x.cc:1: Skipped", "there is one", "", f"[  SKIPPED ] {name} (0 ms)"]}[how]  # fmt: skip
    return "\n".join([*lines, "", f"[==========] {len(cases) if ran is None else ran} tests from 2 test suites ran. (9 ms total)", ""])


class ReportTest(unittest.TestCase):
    def report(self, *cases, again=(), **files):
        """cases: (name, status, output, message of a skip); again: the same of the second run; files: of checks."""
        with tempfile.TemporaryDirectory() as folder:
            for file, tests in ("release.xml", cases), ("release-again.xml", again):
                body = "".join(
                    f'<testcase name="{name}" status="{status}" time="1">'
                    + (f'<skipped message="{skip[0]}"/>' if skip else "") + f"<system-out>{escape(output)}</system-out></testcase>"
                    for name, status, output, *skip in tests)  # fmt: skip
                if tests:
                    (pathlib.Path(folder) / file).write_text(f"<testsuite>{body}</testsuite>")
            for name, text in files.items():
                (pathlib.Path(folder) / name.replace("__", ".")).write_text(text)
            done = subprocess.run([sys.executable, "-B", SOURCE / "scripts/report.py", folder], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        lines = done.stdout.splitlines()
        return done.returncode, lines[-1], done.stdout

    def test_passed_and_failed(self):
        self.assertEqual(self.report(("A.b", "run", ""), lint__passed="")[:2], (0, "2 passed, 0 failed, 0 skipped"))
        code, last, out = self.report(("A.b", "run", ""), ("A.c", "fail", "it broke"), lint__failed="tabs")
        self.assertEqual((code, last), (1, "1 passed, 2 failed, 0 skipped"))
        self.assertIn("FAILED  release: A.c\n    it broke", out)
        self.assertIn("FAILED  lint\n    tabs", out)
        self.assertEqual(self.report()[:2], (1, "0 passed, 0 failed, 0 skipped"))

    def test_many_in_one_process(self):
        cases = [("A.b", "OK"), ("A.c/x", "OK"), ("A.d", "OK")]
        self.assertEqual(self.report(("all", "run", gtest(cases)))[:2], (0, "3 passed, 0 failed, 0 skipped"))
        cases[1] = ("A.c/x", "FAILED")
        code, last, out = self.report(("all", "fail", gtest(cases)))
        self.assertEqual((code, last), (1, "2 passed, 1 failed, 0 skipped"))
        self.assertIn("FAILED  release: all A.c/x\n", out)
        self.assertIn("output of A.c/x", out)
        self.assertNotIn("output of A.b", out)

    def test_what_fails_once_and_then_passes(self):
        once, both = gtest([("A.b", "FAILED"), ("A.c", "OK")]), gtest([("A.b", "OK"), ("A.c", "OK")])
        code, last, out = self.report(("all", "fail", once), ("B.c", "run", ""), again=[("all", "run", both)])
        self.assertEqual((code, last), (0, "3 passed, 0 failed, 0 skipped"))
        self.assertIn("flaked release: all A.b\n", out)
        crash = ("all", "fail", both.split("[====")[0] + "Segmentation fault")
        self.assertEqual(self.report(crash, again=[("all", "run", both)])[:2], (0, "3 passed, 0 failed, 0 skipped"))
        # A test that fails again, in any way, has failed.
        for again in ("all", "fail", once), crash:
            self.assertEqual(
                self.report(("all", "fail", once), again=[again])[:2], (1, "1 passed, 1 failed, 0 skipped")
            )
        self.assertEqual(
            self.report(("all", "fail", once), ("B.c", "fail", "no"), again=[("B.c", "run", "")])[0],
            1,
            "did not run again",
        )

    def test_more_than_a_few_that_flake_are_a_failure(self):
        for count, code in (3, 0), (4, 1):
            names = [f"A.{n}" for n in range(count)]
            failed, passed = [(name, "fail", "late") for name in names], [(name, "run", "") for name in names]
            self.assertEqual(self.report(*failed, again=passed)[0], code)

    def test_one_that_runs_itself_again(self):
        again = gtest([("A.b", "OK")]) + gtest([("A.b", "OK")])
        self.assertEqual(self.report(("wasmedge.A.b", "run", again))[:2], (0, "1 passed, 0 failed, 0 skipped"))
        two = "".join(gtest([(name, "OK")]) + f"[       OK ] {name} (2 ms)\n" for name in ("A.b", "A.c"))
        two += "[==========] 2 tests from 1 test suite ran. (4 ms total)\n"
        self.assertEqual(self.report(("wasmedge.all", "run", two))[:2], (0, "2 passed, 0 failed, 0 skipped"))

    def test_a_process_that_does_not_get_to_its_end(self):
        cases = [("A.b", "OK"), ("A.c", "OK")]
        whole = gtest(cases)
        for output in (whole.split("[====")[0] + "[ RUN      ] A.d\nSegmentation fault", gtest(cases, ran=3)):
            code, last, out = self.report(("all", "fail", output))
            self.assertEqual((code, last), (1, "2 passed, 1 failed, 0 skipped"))
            self.assertIn("its output ends after 2 tests", out)
        self.assertEqual(
            self.report(("all", "fail", whole + "LeakSanitizer: 8 bytes"))[:2], (1, "2 passed, 1 failed, 0 skipped")
        )
        self.assertEqual(
            self.report(("all", "run", whole.split("[====")[0]))[0], 1, "a passed one whose output was cut"
        )

    def test_skips_are_listed(self):
        message = "SKIP_REGULAR_EXPRESSION_MATCHED"
        code, last, out = self.report(
            ("A.b", "run", ""), ("LlamaTarget.X", "notrun", "x.cc:1: Skipped\nthere is one\n\n", message)
        )
        self.assertEqual((code, last), (0, "1 passed, 0 failed, 1 skipped"), out)
        for name, reason in (("LlamaTarget.X", "no time"), ("Other.X", "there is one")):
            code, last, out = self.report(
                ("A.b", "run", ""), (name, "notrun", f"x.cc:1: Skipped\n{reason}\n\n", message)
            )
            self.assertEqual((code, last), (1, "1 passed, 1 failed, 0 skipped"))
            self.assertIn("tests/skips.txt does not list", out)

    def test_skips_within(self):
        output = gtest([("A.b", "OK"), ("LlamaTarget.X", "SKIPPED")])
        self.assertEqual(self.report(("all", "run", output))[:2], (0, "1 passed, 0 failed, 1 skipped"))
        self.assertEqual(
            self.report(("all", "run", gtest([("A.b", "OK"), ("A.c", "SKIPPED")])))[:2],
            (1, "1 passed, 1 failed, 0 skipped"),
        )
        self.assertEqual(
            self.report(("python", "run", "Ran 9 tests in 1.0s\n\nOK (skipped=2)\n"))[:2],
            (1, "0 passed, 1 failed, 0 skipped"),
        )
