"""wasinn doctor, wasinn models, and the line that says what takes long."""

import hashlib
import json
import os
import resource

from command import MODEL, MOUNTS, SETTINGS, WASINN, CommandTest
from completions_test import Terminal

COMPONENTS = "WASINN_HAS_COMPONENTS" in os.environ


class DoctorTest(CommandTest):
    def findings(self, *flags, code=0, **more):
        result = self.wasinn("doctor", "--json", *flags, **more)
        self.assertEqual(result.code, code, result)
        return {(finding["area"], finding["what"]): finding for finding in json.loads(result.out)}

    def test_what_is_there(self):
        found = self.findings()
        self.assertEqual(found["frameworks", "echo"]["state"], "ok")
        self.assertEqual(found["workers", "echo"]["state"], "ok", found["workers", "echo"])
        self.assertEqual(found["engines", "Wasmtime"]["state"], "ok")
        components = found["engines", "components"]
        self.assertEqual((components["state"], components["remedy"]), ("ok", "") if COMPONENTS else
                         ("missing", "scripts/deps.sh wasmtime-component where wasinn is built, then build it again"))
        result = self.wasinn("doctor")
        self.check(result, err="")
        self.assertRegex(result.out, r"(?m)^AREA +WHAT +STATE +FOUND$")
        self.assertRegex(result.out, r"(?m)^ +kernel|^workers +kernel +ok +seccomp yes")

    def test_a_missing_framework_is_no_problem_and_has_a_remedy(self):
        found = self.findings()["frameworks", "onnx"]
        self.assertEqual((found["state"], found["remedy"]), ("missing", "scripts/deps.sh onnxruntime"))
        self.assertIn("/nonexistent", found["looked_for"])
        self.assertNotIn("/nonexistent", found["found"])
        self.check(self.wasinn("doctor"), out="\nMissing:\n")

    def test_no_worker(self):
        self.file("worker.toml", SETTINGS % 'worker = "/nonexistent"\n')
        found = self.findings("--config", "worker.toml", code=1)["workers", "echo"]
        self.assertEqual((found["state"], found["found"]), ("problem", "cannot start /nonexistent: No such file or directory"))
        self.check(self.wasinn("doctor", "--config", "worker.toml"), code=1, out="\nProblems:\n")

    def test_mistakes_in_the_settings(self):
        self.file("bad.toml", "max_wrokers = 1\n")
        found = self.findings("--config", "bad.toml", code=1)["settings", "bad.toml"]
        self.assertIn("max_workers", found["found"])

    if MOUNTS:

        def test_the_driver_is_not_looked_for_in_the_working_folder(self):
            (self.dir / "dev").mkdir()
            self.file("libcuda.so.1", "")
            script = """mount --rbind /dev dev && mount -t tmpfs none /dev && touch /dev/nvidiactl || exit 99
                for file in null zero urandom; do touch /dev/$file && mount --bind dev/$file /dev/$file || exit 99; done
                exec "$@" """
            for path, words in ((":", "is not looked for in the working folder"), ("/usr/lib;lib", "is not looked for")):
                done = self.wasinn("-m", "sh", "-c", script, "sh", WASINN, "doctor", "--json", program="unshare",
                                   env={"LD_LIBRARY_PATH": path})
                self.assertEqual(done.code, 1, done)
                found = {(finding["area"], finding["what"]): finding["found"] for finding in json.loads(done.out)}
                self.assertIn(words, found["GPU", "NVIDIA"])

    def test_gpus_in_workers(self):
        self.assertEqual(self.findings()["GPU", "in workers"]["found"], "not allowed (policy.isolated_gpu)")
        self.file("gpu.toml", SETTINGS % "policy.isolated_gpu = true\n")
        found = self.findings(env={"WASINN_CONFIG": "gpu.toml"})["GPU", "in workers"]["found"]
        self.assertEqual(found, "allowed, in a weaker sandbox (policy.isolated_gpu)")

    def test_limits(self):
        few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))  # noqa: E731
        found = self.findings(code=1, prepare=few)["limits", "open files"]
        self.assertEqual((found["state"], found["remedy"]), ("problem", "ulimit -n 4096"))

    def test_folders(self):
        self.file("file", "")
        found = self.findings(env={"XDG_CACHE_HOME": str(self.dir / "file"), "TMPDIR": "/nowhere"})
        self.assertEqual(found["folders", "compiled code"]["state"], "missing")
        self.assertEqual(found["folders", "temporary files"]["state"], "missing")
        self.assertEqual(self.findings(env={"XDG_CACHE_HOME": str(self.dir / "new/er")})["folders", "compiled code"]["state"], "ok")


class ModelsCommandTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("dir/good/2/model.gguf", MODEL)
        self.file("dir/bad/model.gguf", "GGUF\nfail_load 5\n")

    def models(self, *flags, code=0):
        result = self.wasinn("models", "--json", *flags)
        self.check(result, code=code, err="")
        return {model["name"]: model for model in json.loads(result.out)}

    def test_list(self):
        found = self.models("--models", "dir", "--model", "one=dir/good/2/model.gguf")
        self.assertEqual(set(found), {"good", "bad", "one"})
        good = found["good"]
        digest = hashlib.blake2b(MODEL.encode(), digest_size=32).hexdigest()
        self.assertEqual((good["version"], good["encoding"], good["bytes"], good["digest"]), (2, "ggml", len(MODEL), digest))
        self.assertNotIn("loads", good)
        result = self.wasinn("models", "--models", "dir")
        self.check(result, err="")
        self.assertRegex(result.out, rf"(?m)^good:2 +ggml +{len(MODEL)} +{digest[:16]} +dir/good/2/model.gguf$")

    def test_verify(self):
        for isolate in ([], ["--isolate"]):
            found = self.models("--models", "dir", "--verify", *isolate, code=1)
            self.assertEqual((found["good"]["loads"], found["bad"]["loads"]), (True, False))
            self.assertEqual([(io["name"], io["dtype"], io["shape"]) for io in found["good"]["inputs"]], [("x", "f32", [2, 3])])
            self.assertNotEqual(found["bad"]["error"], "")
        result = self.wasinn("models", "--models", "dir", "--verify")
        self.check(result, code=1, out="bad:1: DOES NOT LOAD: ")
        self.check(result, code=1, out="  in   x f32 [2, 3]\n  out  x f32 [2, 3]\n")
        self.check(self.wasinn("models", "--model", "m=dir/good", "--verify"), out="m:2: loads on ", err="")

    def test_none(self):
        self.check_error(self.wasinn("models"), "no model is registered")
        self.assertEqual(self.models(), {})
        self.check_error(self.wasinn("models", "--models", "nowhere"), "nowhere")

    def test_files_that_are_no_models(self):
        self.file("flat/digits.gguf", MODEL)
        (self.dir / "empty").mkdir()
        said = self.wasinn("models", "--models", "flat").err
        self.assertIn("warning: 'flat' has files and no models: a model is a folder there, such as flat/NAME/model.onnx or flat/NAME/1/", said)
        self.assertNotIn("warning", self.wasinn("models", "--models", "empty").err)
        self.check(self.wasinn("models", "--models", "dir"), err="")


class ProgressTest(CommandTest):
    def program(self, name, size):
        """A program with a custom section that makes it this large."""
        wasm = bytes.fromhex("0061736d01000000" "010401600000" "03020100" "0503010001" "0713" "02" "065f7374617274" "0000" "066d656d6f7279" "0200" "0a040102000b")
        rest = size - len(wasm) - 6
        section = b"\x00" + bytes((rest >> 7 * i) & 127 | (128 if i < 4 else 0) for i in range(5))
        return self.file(name, wasm + section + b"\x01x" + bytes(rest - 2))

    def test_a_large_program_is_compiled_once(self):
        large, env = self.program("large.wasm", 6 << 20), {"XDG_CACHE_HOME": str(self.dir / "cache")}
        line = "wasinn: info: compiling large.wasm, once: this takes a while\n"
        result = self.wasinn("run", large, env=env)
        self.check(result, out="")
        self.assertEqual(result.err, line)
        self.check(self.wasinn("run", large, env=env), err="")
        result = self.wasinn("run", "--no-cache", large, env=env)
        self.assertEqual(result.err, line.replace(", once", ""))
        self.check(self.wasinn("run", self.program("small.wasm", 4000), env=env), err="")
        self.check(self.wasinn("run", "--no-cache", "--log-level", "error", large, env=env), err="")
        self.file("m.gguf", MODEL)
        for flags, count in (([], 1), (["--log-level", "error"], 0)):
            result = self.wasinn("check", "--no-cache", *flags, "m.gguf", large, env=env)
            self.assertEqual(result.err.count("compiling large.wasm"), count, result)

    def test_slow_steps_are_shown_at_a_terminal(self):
        os.mkfifo(self.dir / "module.wasm")
        terminal = Terminal([WASINN, "compile", "module.wasm"], self.dir, self.env)
        self.addCleanup(terminal.close)
        terminal.read_until("\r\x1b[2Kcompiling module.wasm, 1 s")
        (self.dir / "module.wasm").write_bytes(b"no module")
        terminal.read_until("\r\x1b[2Kwasinn: ")
