"""bench/performance.py: its tables, of reports that are made up, and the page that it writes them into. Nothing here looks at a time.

WASINN names the command, WASINN_SOURCE the source tree."""

import argparse
import contextlib
import copy
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

WASINN = pathlib.Path(os.environ["WASINN"])
SOURCE = pathlib.Path(os.environ["WASINN_SOURCE"])
sys.path.append(str(SOURCE / "bench"))

import performance  # noqa: E402
import performance_plot as plot  # noqa: E402
import performance_tables as tables  # noqa: E402

PAGE = (SOURCE / "docs/performance.md").read_text()


def sides(native, native_copy, guest):
    return {"native": native, "native_copy": native_copy, "guest": guest}


def report(guest=2.0, **others):
    """As `wasinn bench --json` prints them."""
    return {
        "framework": "ONNX Runtime 1.2.3", "input_bytes": 768, "p50_us": sides(1.0, 1.5, guest), "p99_us": sides(2.0, 2.5, guest + 2),
        "loop_us": {"native_copy": 1.25, "guest": guest - 0.5}, "loop_p99_us": {"native_copy": 3.0, "guest": guest + 2.5},
        "empty_call_us": 0.125, "copies": 2, "allocations": 0, "outputs_equal": True, **others,
    }  # fmt: skip


def options(**others):
    usual = {"build": pathlib.Path("/build"), "peers": pathlib.Path("/peers"), "pin": 1, "runs": 3, "seconds": 1.0, "lines": "", "write_docs": False}
    return argparse.Namespace(**{**usual, **others})


def rows(text):
    """The cells of each row of each table, without heads."""
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return [row for i, row in enumerate(found) if row[0] != "---" and (i + 1 == len(found) or found[i + 1][0] != "---")]


class TablesTest(unittest.TestCase):
    def test_the_run_with_the_median_difference_is_shown_whole(self):
        # 9 is the slowest run and not the one with the greatest difference, so that sorting by another figure is noticed.
        runs = [report(9.0, p50_us=sides(7.5, 8.0, 9.0)), report(2.0), report(4.0)]
        times = tables.Times(runs)
        self.assertEqual((times.base, times.side, times.difference), ([8.0, 2.5], [9.0, 11.0], [1.0, 8.5]))
        self.assertEqual(times.cells(), ["8.00", "2.50", "9.00", "11.00", "+1.00", "+8.50"])
        # Each way by differences of its own.
        self.assertEqual(tables.Times(runs, tables.LOOP).side, [3.5, 6.5])

    def test_engines(self):
        lines = list(performance.engines(options()))
        self.assertEqual([line.engine for line in lines], ["Wasmtime", "WAMR", "WasmEdge"])
        guests = (2.0, 2.701, 3.5)
        found = rows(tables.engines([(line, [report(guest)]) for line, guest in zip(lines, guests)]))
        self.assertEqual(found[:3], [["Wasmtime", "+0.50", "0.12", "+0.25"], ["WAMR", "+1.20", "0.12", "+0.95"], ["WasmEdge", "+2.00", "0.12", "+1.75"]])
        self.assertEqual(found[3], [f"`{lines[0].label}`", "called each time", "1.50", "2.50", "2.00", "4.00", "+0.50", "+1.50"])
        self.assertEqual(found[4], [f"`{lines[0].label}`", "in a loop of 16", "1.25", "3.00", "1.50", "4.50", "+0.25", "+1.50"])
        self.assertEqual(len(found), 3 + 2 * 3)

    def test_one_call_is_compared_with_bound_buffers(self):
        line = next(performance.once(options()))
        found = rows(tables.once([(line, [report(3.01, input_bytes=602112, copies=1)])]))
        self.assertEqual(found, [[f"`{line.label}`", "1.00", "2.00", "3.01", "5.01", "+2.01", "+3.01", "3.01", "1"]])

    def test_frameworks(self):
        witx, wit, large = [line for line in performance.frameworks(options())][:3]
        self.assertEqual((witx.abi, wit.abi), ("witx", "wit"))
        text = tables.frameworks([(witx, [report()]), (wit, [report(3.0, allocations=None)]), (large, [report(1.65, input_bytes=602112)])])
        self.assertEqual(rows(text)[0], [f"`{witx.label}`", "1.00", "1.50", "2.50", "2.00", "4.00", "+0.50 (+33 %)", "+1.50", "2", "0"])
        self.assertEqual(rows(text)[1][-1], "n/a")
        self.assertIn("- Core modules: +0.50 to +0.50 µs for small models, +10 to +10 % for large ones.\n", text)
        self.assertTrue(text.endswith("- Components: +1.50 to +1.50 µs for small models."))

    def test_wamr_peer(self):
        peer = report()
        for way, us in (("p50_us", 3.0), ("p99_us", 6.0), ("loop_us", 2.5), ("loop_p99_us", 4.0)):
            peer[way]["peer"] = us
        found = rows(tables.wamr_peer([(performance.wamr_peer(options())[0], [peer])]))
        self.assertEqual(found[0], ["WAMR's wasi-nn", "called each time", "1.50", "2.50", "3.00", "6.00", "+1.50", "+3.50"])
        self.assertEqual(found[3], ["wasinn", "in a loop of 16", "1.25", "3.00", "1.50", "4.50", "+0.25", "+1.50"])

    def test_wasmtime_peer_is_paired_with_the_run_beside_it(self):
        line = performance.Line("label", [], model="mean.onnx")
        peers = [{"p50_us": {"peer": us}, "p99_us": {"peer": us + 1}} for us in (5.0, 90.0, 4.0)]
        ours = [report(p50_us=sides(1.0, native, native + 1)) for native in (1.5, 80.0, 1.0)]
        found = rows(tables.wasmtime_peer([(line, peers), (line, ours)]))
        # Differences 3.5, 10 and 3: the first.
        self.assertEqual(found[0], ["`mean.onnx`", "Wasmtime's wasi-nn", "1.50", "2.50", "5.00", "6.00", "+3.50", "+3.50"])
        self.assertEqual(found[1][:2], ["`mean.onnx`", "wasinn"])


class ShowTest(unittest.TestCase):
    """A section as it is printed and written, with `run` made up."""

    def show(self, name, run, **others):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            begin, end = performance.begin_and_end(name)
            page.write_text(f"before\n{begin}\nold\n{end}\nafter\n")
            printed = io.StringIO()
            with unittest.mock.patch.multiple(performance, run=run, PAGE=page), contextlib.redirect_stdout(printed):
                whole = performance.show(name, options(scratch=pathlib.Path(folder), **others), [])
            inside = page.read_text().removeprefix(f"before\n{begin}\n").removesuffix(f"\n{end}\nafter\n")
        return whole, printed.getvalue(), inside

    def test_a_whole_section_is_written_between_its_marks(self):
        calls = []
        whole, printed, inside = self.show("engines", lambda line, _: calls.append(line.engine) or report(), write_docs=True)
        self.assertTrue(whole)
        self.assertEqual(calls, ["Wasmtime", "WAMR", "WasmEdge"] * 3)  # in rounds
        self.assertIn(f"\n{inside}\n", printed)
        self.assertTrue(inside.startswith("| engine |"), inside)
        self.assertRegex(inside, r"\n\nEach row is one of 3 runs of 1 s, .*; ONNX Runtime 1.2.3\.$")

    def test_what_fails_is_named_and_nothing_is_written(self):
        def run(line, _):
            return "it is not built" if line.engine == "WasmEdge" else report()

        whole, printed, inside = self.show("engines", run, write_docs=True)
        self.assertFalse(whole)
        self.assertRegex(printed, r"\nnot measured: `\.deps/wasmedge/.*`: it is not built\n")
        self.assertEqual(len(rows(printed)), 2 + 2 * 2)
        self.assertEqual(inside, "old")
        whole, printed, inside = self.show("wasmtime-wasi-nn", lambda line, _: "gone", write_docs=True)
        self.assertEqual((whole, rows(printed), inside), (False, [], "old"))

    def test_a_part_of_a_section_is_not_written(self):
        whole, printed, inside = self.show("engines", lambda *_: report(), write_docs=True, lines="--engine wamr")
        self.assertTrue(whole)
        self.assertEqual((len(rows(printed)), inside), (3, "old"))

    def test_not_without_asking(self):
        self.assertEqual(self.show("engines", lambda *_: report())[2], "old")


class RunTest(unittest.TestCase):
    def failure(self, script):
        line = performance.Line("label", [sys.executable, "-c", script])
        return performance.run(line, [])

    def test_reports_and_failures(self):
        good = report()
        self.assertEqual(self.failure(f"print({json.dumps(good)!r})"), good)
        self.assertEqual(self.failure("import sys; sys.exit('no such model')"), "no such model")
        self.assertEqual(self.failure("import sys; sys.exit(3)"), "exit status 3")
        self.assertIn("Expecting value", self.failure("print('p50 1.5')"))
        bad = copy.deepcopy(good)
        bad["outputs_equal"] = False
        self.assertIn("not the native ones", self.failure(f"print({json.dumps(bad)!r})"))
        self.assertIn("No such file", performance.run(performance.Line("label", ["/nowhere/bench"]), []))

    def test_the_command(self):
        words = [sys.executable, "-B", SOURCE / "bench/performance.py", "--build", WASINN.parent.parent, "--runs", "1", "--seconds", "0.02"]
        done = subprocess.run([*words, "--only", "frameworks", "--lines", "tiny/mean.onnx --pin"], capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertRegex(done.stdout, r"\n\| `wasinn bench tests/models/tiny/mean.onnx --pin 1` \|( [0-9.]+ \|){5} [+-]")
        done = subprocess.run([*words, "--only", "wamr-wasi-nn"], capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--peers DIR", done.stderr)


class PageTest(unittest.TestCase):
    def test_has_the_marks_of_each_section_and_its_lines_between_them(self):
        with tempfile.TemporaryDirectory() as scratch:
            for name, section in performance.SECTIONS.items():
                with self.subTest(name):
                    begin, end = performance.begin_and_end(name)
                    self.assertEqual((PAGE.count(begin), PAGE.count(end)), (1, 1))
                    inside = PAGE[PAGE.index(begin) : PAGE.index(end)]
                    for line in section.lines(options(scratch=pathlib.Path(scratch))):
                        if name not in performance.PEERS:
                            self.assertTrue((SOURCE / line.model).exists(), line.model)
                            self.assertIn(f"| `{line.label}` |", inside)

    def test_its_bars_are_those_of_its_tables(self):
        self.assertEqual(plot.drawing(PAGE), (SOURCE / "docs/images/performance.svg").read_text(encoding="utf-8"), "run bench/performance_plot.py")
        self.assertNotEqual(plot.drawing(PAGE.replace("| +0.40 (+27 %) |", "| +0.90 (+27 %) |")), plot.drawing(PAGE))

    def test_no_figures_of_a_measurement_in_the_prose(self):
        prose = PAGE
        for name in performance.SECTIONS:
            begin, end = performance.begin_and_end(name)
            prose = prose[: prose.index(begin)] + prose[prose.index(end) :]
        self.assertNotRegex(prose, r"[0-9] ?(µs|%)|[+-][0-9]+\.[0-9]")
