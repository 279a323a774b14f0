"""wasinn bench with several guests, models, engines and ABIs, and the files that it writes of them."""

import csv
import json
import os
import pathlib
import pty
import shutil
import subprocess
import xml.etree.ElementTree

from bench_case import LEVEL_KEYS, TINY, WASINN, BenchTest

STEPS = ["queue", "compute_input", "compute_infer", "compute_output", "rest"]


class LevelsTest(BenchTest):
    def levels(self, *args, iterations=5):
        return self.report(*args, iterations=iterations)["concurrency"]

    def test_each_number_of_guests(self):
        for flags, guests in ((["--concurrency", "1:3"], [1, 2, 3]), (["--concurrency=2:7:3"], [2, 5]), (["--guests", 2], [2]), ([], [1])):
            with self.subTest(flags):
                report = self.report(*flags, TINY / "mean.onnx")
                levels = report["concurrency"]
                self.assertEqual([level["guests"] for level in levels], guests)
                self.assertEqual((report["guests"], report["per_s"], report["per_s_ratio"]), (guests[-1], levels[-1]["per_s"], levels[-1]["per_s_ratio"]))
                for level in levels:
                    self.assertEqual(set(level), LEVEL_KEYS)
                    for side in ("native", "guest"):
                        self.assertGreater(level["per_s"][side], 0)
                        times = [level[share][side] for share in ("p50_us", "p90_us", "p99_us")]
                        self.assertEqual(times, sorted(times))
                        self.assertGreater(times[0], 0)

    def test_steps(self):
        # A name that Prometheus' text has to quote.
        for model in (["--model", f'a "b"\\={TINY / "relu.onnx"}', 'a "b"\\'], [TINY / "relu.onnx"], ["--model", f"m={TINY / 'relu.onnx'},version=3", "m:3"]):
            with self.subTest(model):
                for level in self.levels("--concurrency", "1:2", *model):
                    steps = level["steps_us"]
                    self.assertEqual(list(steps), STEPS)
                    for step in ("compute_input", "compute_infer", "compute_output"):
                        self.assertGreater(steps[step], 0, steps)
                    self.assertGreaterEqual(min(steps.values()), 0, steps)
        self.assertEqual([level["steps_us"] for level in self.levels("--no-steps", TINY / "mean.onnx")], [None])

    def test_waiting_guests_are_in_the_queue(self):
        config = self.dir / "one.toml"
        config.write_text("max_computes = 1\n")
        [crowd] = self.levels("--config", config, "--guests", 4, TINY / "relu.onnx", iterations=500)
        self.assertGreater(crowd["steps_us"]["queue"], crowd["steps_us"]["compute_infer"])  # for three others

    def test_warnings(self):
        done = subprocess.run([WASINN, "bench", "--json", "--iterations", "5", "--concurrency", str(os.cpu_count()), "--no-steps", TINY / "mean.onnx"],
                              capture_output=True, text=True, check=True, timeout=300)  # fmt: skip
        report = json.loads(done.stdout)
        # No processor is free next to so many guests.
        self.assertEqual("the machine is busy" in done.stderr, report["load_average"] > 0.5, done.stderr)
        self.assertEqual("the machine is noisy" in done.stderr, report["concurrency"][0]["spread"] > 0.05, done.stderr)


class FilesTest(BenchTest):
    def setUp(self):
        super().setUp()
        self.model = self.dir / "a<b>&,\"c\".onnx"
        shutil.copy(TINY / "mean.onnx", self.model)

    def test_csv(self):
        report = self.report("--concurrency", "1:2", "--csv", "rates.csv", self.model)
        with open(self.dir / "rates.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 2)
        for row, level in zip(rows, report["concurrency"]):
            reported = {name: str(report[name]) for name in ("model", "framework", "engine", "abi", "threads")} | {
                "guests": str(level["guests"])
            }
            self.assertEqual({name: row.pop(name) for name in reported}, reported)
            numbers = {"per_s_ratio": level["per_s_ratio"], "spread": level["spread"]}
            numbers |= {f"{side}_{key}": level[key][side] for side in ("native", "guest") for key in ("per_s", "p50_us", "p90_us", "p99_us")}
            numbers |= {f"{step}_us": time for step, time in level["steps_us"].items()}
            self.assertEqual(set(row), set(numbers))
            for name, number in numbers.items():
                self.assertAlmostEqual(float(row[name]), number, delta=1e-4 * number, msg=name)
        self.report("--no-steps", "--csv", "rates.csv", self.model)
        self.assertTrue((self.dir / "rates.csv").read_text().endswith(",,,,,\n"))

    def test_svg(self):
        self.assertEqual(len(self.report("--concurrency", "1:3", "--svg", "rates.svg", self.model, TINY / "relu.onnx")), 2)
        picture = xml.etree.ElementTree.parse(self.dir / "rates.svg").getroot()
        space = "{http://www.w3.org/2000/svg}"
        lines = picture.findall(f"{space}polyline")  # two panels, two models, two sides
        self.assertEqual([len(line.get("points").split()) for line in lines], [3] * 8)
        width, height = float(picture.get("width")), float(picture.get("height"))
        for circle in picture.findall(f"{space}circle"):
            self.assertTrue(0 < float(circle.get("cx")) < width and 0 < float(circle.get("cy")) < height)
        texts = [text.text for text in picture.findall(f"{space}text")]
        self.assertTrue(any(text.startswith(f"{self.model} on ONNX Runtime") for text in texts), texts)

    def test_what_cannot_be_written(self):
        for flag in ("--csv", "--svg"):
            code, out, err = self.bench("--iterations", 5, flag, "nowhere/file", TINY / "mean.onnx")
            self.assertEqual((code, err), (125, "wasinn: error: cannot write nowhere/file: No such file or directory\n"))
            self.assertEqual(out, "")  # it was seen before anything was measured


class SideBySideTest(BenchTest):
    def combinations(self, *args):
        reports = self.report(*args)
        self.assertTrue(all(report["outputs_equal"] for report in reports))
        return [(pathlib.Path(report["model"]).stem, report["engine"], report["abi"]) for report in reports]

    def test_models_and_abis(self):
        found = self.combinations("--abi", "witx,once", TINY / "mean.onnx", TINY / "relu.onnx")
        self.assertEqual(found, [(model, "wasmtime", abi) for model in ("mean", "relu") for abi in ("witx", "once")])

    def test_table(self):
        code, out, err = self.bench("--iterations", 5, "--abi", "witx,once", TINY / "mean.onnx")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"\nside by side +engine +abi .*\n.*mean.onnx +wasmtime +witx .*\n.*mean.onnx +wasmtime +once ")


class EnginesTest(SideBySideTest):
    """Needs WAMR."""

    def test_engines(self):
        self.assertEqual(self.combinations("--engine", "wasmtime,wamr", TINY / "mean.onnx"), [("mean", "wasmtime", "witx"), ("mean", "wamr", "witx")])


class ProgressTest(BenchTest):
    def test_only_at_a_terminal(self):
        terminal, end = pty.openpty()
        command = [WASINN, "bench", "--iterations", "5", "--concurrency", "1:2", TINY / "mean.onnx"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=end, text=True) as started:
            os.close(end)
            shown = b""
            while True:
                try:
                    part = os.read(terminal, 4096)
                except OSError:  # the other end is closed
                    break
                shown += part
            out = started.stdout.read()
        os.close(terminal)
        self.assertEqual(started.returncode, 0)
        steps = [line.split(b"] ")[1].split(b" ")[0] for line in shown.split(b"\r\x1b[K") if line.startswith(b"[")]
        self.assertEqual(steps, [f"{i}/6".encode() for i in range(1, 7)])
        self.assertNotIn("\x1b", out)
