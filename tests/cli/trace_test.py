"""The files of --trace and --metrics, however the guest ends."""

import json
import re
import signal

from command import WAIT, CommandTest, longer_and_longer, until
from ends_test import ENDLESS, ENGINES, POLL, READ, READY, SLEEP, TEXT, WRITE, EndsTest

IMPORTS = """(import "wasi_ephemeral_nn" "load_by_name" (func $load (param i32 i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "init_execution_context" (func $init (param i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "set_input" (func $set (param i32 i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "compute" (func $compute (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))"""
# At 32 a tensor of one f32: its dims at 64, its bytes at 72.
GUEST = f"""(module {IMPORTS} (memory (export "memory") 1) (data (i32.const 16) "m") (data (i32.const 64) "\\01")
  (data (i32.const 32) "\\40\\00\\00\\00\\01\\00\\00\\00\\01\\00\\00\\00\\48\\00\\00\\00\\04\\00\\00\\00")
  (func (export "_start")
    (drop (call $load (i32.const 16) (i32.const 1) (i32.const 100)))
    (drop (call $init (i32.load (i32.const 100)) (i32.const 104)))
    (drop (call $set (i32.load (i32.const 104)) (i32.const 0) (i32.const 32)))
    (drop (call $compute (i32.load (i32.const 104))))
    %s))"""
ENDS = {"returns": ("", 0), "exits": ("(call $exit (i32.const 7))", 7), "traps": ("unreachable", 134)}


class TraceTest(CommandTest):
    def test_trace_and_metrics_however_the_guest_ends(self):
        for end, (body, code) in ENDS.items():
            with self.subTest(end):
                self.file("guest.wat", GUEST.replace("%s", body))
                self.file("m.gguf", "GGUF\nin x f32 1\nturns 0\n")
                result = self.wasinn("run", "--trace", "out.json", "--metrics", "metrics", "--model", "m=m.gguf", "guest.wat")
                self.assertEqual(result.code, code, result.err)
                events = json.loads((self.dir / "out.json").read_text())
                spans = [event for event in events if event["ph"] == "X"]
                self.assertEqual([span["name"] for span in spans], ["load", "compute_input", "queue", "compute_infer", "inference"])
                self.assertEqual([event["name"] for event in events if event["ph"] == "M"], ["thread_name"])
                self.assertIn('wasinn_inferences_total{model="m",version="1",backend="echo",code="ok"} 1\n',
                              (self.dir / "metrics").read_text())


# It replaces one of the command's files by a link, by the name at 16 and what the link at 32 leads to, in its folder 3.
PLANTS = """(module (import "wasi_snapshot_preview1" "path_unlink_file" (func $unlink (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_symlink" (func $link (param i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1) (data (i32.const 16) "out") (data (i32.const 32) "../victim")
  (func (export "_start")
    (drop (call $unlink (i32.const 3) (i32.const 16) (i32.const 3)))
    (drop (call $link (i32.const 32) (i32.const 9) (i32.const 3) (i32.const 16) (i32.const 3)))))"""


class PlantedTest(CommandTest):
    """A guest that may write in the folder of a file that the command writes makes it no other file of the user's."""

    def test_links(self):
        for flag in ("--metrics", "--trace"):
            for engine in ENGINES:
                with self.subTest(flag=flag, engine=engine):
                    self.file("victim", "precious")
                    self.file("guest.wat", PLANTS)
                    (self.dir / "data").mkdir(exist_ok=True)
                    run = ["run", "--engine", engine, flag, "data/out", "--dir", "data", "guest.wat"]
                    self.check(self.wasinn(*run), code=0, err="")
                    self.assertTrue((self.dir / "data" / "out").is_symlink())
                    self.check_error(self.wasinn(*run), "data/out: Too many levels of symbolic links")
                    self.assertEqual((self.dir / "victim").read_text(), "precious")
                    (self.dir / "data" / "out").unlink()

    def test_a_folder_that_is_read_only_plants_nothing(self):
        self.file("guest.wat", PLANTS)
        self.file("elsewhere", "")
        (self.dir / "data").mkdir()
        (self.dir / "data" / "out").symlink_to("../elsewhere")
        self.check(self.wasinn("run", "--metrics", "data/out", "--dir", "data::data:ro", "guest.wat"), code=0, err="")
        self.assertIn("wasinn_guests", (self.dir / "elsewhere").read_text())


# Guests that are ended from outside: once they have computed they say so, and go on; the last one goes on computing.
BUSY = f"""(module {IMPORTS} {WRITE} {POLL} {READ} (memory (export "memory") 1) {TEXT} (data (i32.const 80) "m") (data (i32.const 64) "\\01")
  (data (i32.const 32) "\\40\\00\\00\\00\\01\\00\\00\\00\\01\\00\\00\\00\\48\\00\\00\\00\\04\\00\\00\\00")
  (func (export "_start")
    (drop (call $load (i32.const 80) (i32.const 1) (i32.const 1000)))
    (drop (call $init (i32.load (i32.const 1000)) (i32.const 1004)))
    (drop (call $set (i32.load (i32.const 1004)) (i32.const 0) (i32.const 32)))
    %s))"""
COMPUTE = "(drop (call $compute (i32.load (i32.const 1004))))"
# One of these ends at once when it is cancelled. No engine can end the other one, so its process ends.
WAITS = {"loop": ENDLESS, "sleep": SLEEP,
         "read": "(i32.store (i32.const 0) (i32.const 400)) (i32.store (i32.const 4) (i32.const 10)) (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))"}
OF_ONE = ["load", "compute_input", "queue", "compute_infer", "inference"]


class EndedTest(EndsTest):
    """The file is whole, with all that had happened, in whatever way the guest ends."""

    def prepare(self, body, model="GGUF\nin x f32 1\nturns 0\n"):
        self.file("m.gguf", model)
        return BUSY.replace("%s", body)

    FLAGS = ("--trace", "out.json", "--metrics", "metrics", "--model", "m=m.gguf")

    def spans(self):
        events = json.loads((self.dir / "out.json").read_text())
        return [event for event in events if event["ph"] == "X"]

    def names(self):
        return [span["name"] for span in self.spans()]

    def test_by_signals_and_a_deadline(self):
        for engine in ENGINES:
            for name, waits in WAITS.items():
                for number in (signal.SIGINT, signal.SIGTERM, None):
                    with self.subTest(engine=engine, guest=name, signal=number):
                        guest = self.prepare(COMPUTE + READY + waits)
                        if number:
                            child = self.start_text(guest, engine, *self.FLAGS)
                            child.send_signal(number)
                            self.assertEqual(child.wait(timeout=WAIT), 128 + number)
                        else:
                            self.end_by_deadline(guest, engine, *self.FLAGS)
                        self.assertEqual(self.names(), OF_ONE)
                        self.check_metrics(1)

    def test_in_a_compute(self):
        reached = self.dir / "g.reached"
        for engine in ENGINES:
            for timeouts in ([None], longer_and_longer()):
                self.file("guest.wat", self.prepare(COMPUTE, "GGUF\nin x f32 1\ngate g\n"))
                reached.unlink(missing_ok=True)
                for timeout in timeouts:
                    flags = ("--timeout", f"{timeout}ms") if timeout else ()
                    child = self.start("--engine", engine, "--nn-timeout", "0", *flags, *self.FLAGS, "guest.wat")
                    if not timeout:
                        until(reached.exists)
                        child.send_signal(signal.SIGINT)
                    self.assertEqual(child.wait(timeout=WAIT), 124 if timeout else 130)
                    if reached.exists():
                        break
                self.assertEqual(self.names()[:2], OF_ONE[:2])
                for span in self.spans()[2:]:
                    self.assertIn(span["args"]["code"], ("ok", "timeout"), span)

    def test_while_it_is_written(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            child = self.start_text(self.prepare(READY + f"(loop $again {COMPUTE} (br $again))"), "wasmtime", *self.FLAGS)
            until(lambda: (self.dir / "out.json").stat().st_size >= 1 << 20)
            child.send_signal(number)
            self.assertEqual(child.wait(timeout=WAIT), 128 + number)
            names = self.names()
            self.assertGreater(len(names), 2000)
            # The last one may have been stopped.
            self.assertEqual(names[2:2 + (len(names) - 2) // 3 * 3], OF_ONE[2:] * ((len(names) - 2) // 3))
            self.check_metrics(len(names) // 3 - 1)

    def check_metrics(self, least):
        ok = re.search('^wasinn_inferences_total{.*model="m".*code="ok"} ([0-9]+)$', (self.dir / "metrics").read_text(), re.MULTILINE)
        self.assertGreaterEqual(int(ok[1]), least)

    def test_names_that_json_must_escape(self):
        name = 'a"b\\c\nd\x01é.wat'
        self.file("m.gguf", "GGUF\nin x f32 1\nturns 0\n")
        self.file(name, BUSY.replace("%s", COMPUTE).replace('"m"', '"m\\22\\5c\\0a"').replace("(i32.const 80) (i32.const 1)", "(i32.const 80) (i32.const 4)"))
        self.check(self.wasinn("run", "--trace", "out.json", "--model", 'm"\\\n=m.gguf', name), code=0)
        self.assertEqual(self.names(), OF_ONE)
        for span in self.spans():
            self.assertEqual((span["args"]["guest_name"], span["args"]["model"]), (name, 'm"\\\n'))
