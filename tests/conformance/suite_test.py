"""wasinn-conformance itself: hosts that do nothing, or only one thing, and what it reports of them."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest
import xml.etree.ElementTree as xml

SUITE = pathlib.Path(os.environ["WASINN_SUITE"])


def run(*arguments):
    return subprocess.run([sys.executable, SUITE, *map(str, arguments)], capture_output=True, text=True)


class SuiteTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def report(self, host, *arguments, status=1):
        file = self.dir / "report.json"
        done = run("--host", host, "--json", file, *arguments)
        self.assertEqual(done.returncode, status, done.stdout[-2000:] + done.stderr)
        return json.loads(file.read_text()), done

    def host(self, body):
        """A host in Python; `folder` is that of the guest's files."""
        program = self.dir / "host.py"
        program.write_text("import pathlib, sys\nfolder = pathlib.Path(sys.argv[1])\n" + textwrap.dedent(body))
        return f"{sys.executable} {program} {{dir}} {{wasm}} {{args}}"

    def test_a_host_that_does_nothing_fails_every_check(self):
        listed = run("--list", "--named", "digits").stdout.splitlines()
        self.assertGreater(len(listed), 180)
        report, _ = self.report("true {wasm}", "--named", "digits")
        self.assertEqual(report["counts"], {"passed": 0, "failed": len(listed), "refused": 0})
        for host in ("false {wasm}", "sh -c 'kill -9 $$' {wasm}", "/nonexistent {wasm}"):
            with self.subTest(host):
                report, _ = self.report(host, "--filter", "*/load/*", "--filter", "*/tensor/*", "--filter", "*/memory/*")
                self.assertEqual((report["counts"]["passed"], report["counts"]["refused"]), (0, 0))

    def test_a_host_that_answers_everything_alike_fails(self):
        success = self.host('if (folder / "script").exists():\n    [print("0 1 -") for _ in (folder / "script").open()]')
        report, _ = self.report(success, "--filter", "*/compute/*", "--filter", "*/get_output/*")
        of_results = [check for check in report["checks"] if "infer" in check["name"] or "output" in check["name"]]
        self.assertTrue(of_results)
        self.assertEqual({check["status"] for check in of_results}, {"failed"})

    def test_a_guest_that_ends_costs_its_own_part_alone(self):
        # It ends in the step that asks for a name, and answers all else with success.
        host = self.host("""
            for step in (folder / "script").open():
                if step.startswith("name"):
                    sys.exit(134)
                print("0 1 -", flush=True)
        """)
        report, _ = self.report(host, "--filter", "witx/load_by_name/*", "--filter", "witx/load/twice", "--filter", "witx/init_execution_context/a context")
        got = {check["name"]: (check["status"], check["got"]) for check in report["checks"]}
        self.assertEqual(got["witx/load/twice"], ("passed", "success"))
        self.assertEqual(got["witx/init_execution_context/a context"], ("passed", "success"))
        self.assertEqual({status for name, (status, _) in got.items() if "load_by_name" in name}, {"failed"})

    def test_a_trap_is_right_only_of_a_guest_that_ran(self):
        name = "wit/tensor/a type that is none"
        traps = self.host('print("0 1 -", flush=True)\nsys.exit(134)')
        self.assertEqual(self.report(traps, "--filter", name, status=0)[0]["checks"][0]["got"], "trap")
        crashes = self.host('import os\nprint("0 1 -", flush=True)\nos.abort()')
        self.assertIn("signal 6", self.report(crashes, "--filter", name)[0]["checks"][0]["got"])

    def test_a_host_that_hangs_is_ended(self):
        hangs = self.host("import time\nwhile True: time.sleep(60)")
        report, _ = self.report(hangs, "--limit", "0.2", "--filter", "witx/load/bytes")
        self.assertEqual(report["checks"][0]["got"], "no answer within 0.2 s")

    def test_known_failures(self):
        names = ["witx/load/bytes", "witx/load/noise"]
        filters = [word for name in names for word in ("--filter", name)]
        known = self.dir / "known"
        known.write_text("# all of them\n" + "\n".join(names))
        self.report("true {wasm}", *filters, "--known", known, status=0)
        known.write_text(names[0])
        _, done = self.report("true {wasm}", *filters, "--known", known)
        self.assertIn(f"{names[1]} fails, and is not known to", done.stderr)
        success = self.host('[print("0 1 -") for _ in (folder / "script").open()]')
        _, done = self.report(success, "--filter", names[0], "--known", known)
        self.assertIn(f"{names[0]} is known to fail, and does not", done.stderr)

    def test_what_a_host_refuses(self):
        refuses = self.host('[print("6 1 -") for _ in (folder / "script").open()]')
        arguments = ["--filter", "witx/load/target gpu"]
        report, _ = self.report(refuses, *arguments, status=0)
        self.assertEqual(report["counts"], {"passed": 0, "failed": 0, "refused": 1})
        self.report(refuses, *arguments, "--strict")
        known = self.dir / "known"
        known.write_text("*/load/target *")
        self.report(refuses, *arguments, "--strict", "--known", known, status=0)

    def test_reports(self):
        junit = self.dir / "junit.xml"
        report, done = self.report("true {wasm}", "--filter", "witx/load/*", "--junit", junit, "--name", "nothing")
        suite = xml.parse(junit).getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures")), (str(len(report["checks"])),) * 2)
        self.assertEqual(len(suite.findall("testcase/failure")), len(report["checks"]))
        self.assertIn(f"0 of {len(report['checks'])} passed", done.stdout)
        table = run("--table", self.dir / "report.json", self.dir / "report.json").stdout
        self.assertIn("| checks | nothing | nothing |", table)
        self.assertIn(f"| witx/load | 0 of {len(report['checks'])} | 0 of {len(report['checks'])} |", table)

    def test_words_that_are_none(self):
        for arguments, words in (((), "--host CMD says"), (("--host", "wasmtime run"), "{wasm} must stand in CMD"), (("--host", "true {wasm}", "--nodes", "/nowhere"), "there is no folder /nowhere")):
            done = run(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)
        done = run("--host", "true {wasm}", "--filter", "nothing")
        self.assertEqual((done.returncode, done.stderr), (1, "no check has such a name\n"))

    def test_each_check_has_a_name_of_its_own_and_a_line_or_a_choice(self):
        lines = run("--list", "--named", "digits").stdout.splitlines()
        names = [line.split(": ")[0] for line in lines]
        self.assertEqual(len(names), len(set(names)))
        for line in lines:
            self.assertRegex(line, r"\[(choice|wasi-nn\.witx?:\d+|wasi-nn\.wit:\d+|CanonicalABI\.md)")
