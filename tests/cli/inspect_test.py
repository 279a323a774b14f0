"""wasinn inspect and wasinn backends."""

import json

from command import ECHO, SETTINGS, CommandTest


class InspectTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("m.gguf", "GGUF\nin image f32 -1,3,224,224\nin scale f64 scalar optional\nin mask bool any\n")

    def test_table(self):
        result = self.wasinn("inspect", "m.gguf")
        self.check(result, err="")
        rows = [line.split() for line in result.out.splitlines()]
        self.assertEqual(rows[0], ["m.gguf", "(ggml)"])
        self.assertEqual(rows[3], ["input", "0", "image", "f32", "[?,", "3,", "224,", "224]"])
        self.assertEqual(rows[4], ["input", "1", "scale", "f64", "[]", "optional"])
        self.assertEqual(rows[5], ["input", "2", "mask", "bool", "?"])
        self.assertEqual(rows[6][:4], ["output", "0", "image", "f32"])

    def test_format_that_only_the_bytes_show(self):
        self.file("m.bin", "GGUF\nin image f32 2\n")
        result = self.wasinn("inspect", "m.bin")
        self.check(result, err="")
        self.assertEqual(result.out.splitlines()[0].split(), ["m.bin", "(ggml)"])
        self.assertEqual(json.loads(self.wasinn("inspect", "m.bin", "--json").out)["encoding"], "ggml")

    def test_json(self):
        result = self.wasinn("inspect", "m.gguf", "--json")
        self.check(result, err="")
        model = json.loads(result.out)
        self.assertEqual((model["name"], model["encoding"], model["version"]), ("m.gguf", "ggml", 1))
        self.assertEqual([io["name"] for io in model["inputs"]], ["image", "scale", "mask"])
        self.assertEqual([io["dtype"] for io in model["inputs"]], ["f32", "f64", "bool"])
        self.assertEqual([io["shape"] for io in model["inputs"]], [[-1, 3, 224, 224], [], None])
        self.assertEqual([io["optional"] for io in model["inputs"]], [False, True, False])
        self.assertEqual(len(model["outputs"]), 3)

    def test_a_terminal_obeys_no_name(self):
        self.file("m.gguf", "GGUF\nin a\u202e\u009bb f32 1\n")
        result = self.wasinn("inspect", "m.gguf", "--json")
        self.check(result, out=r'"a\u202e\u009bb"', err="")
        self.assertTrue(result.out.isascii())
        self.assertEqual(json.loads(result.out)["inputs"][0]["name"], "a\u202e\u009bb")

    def test_a_guest_in_place_of_a_model(self):
        for name, content, what in (("x.wasm", b"\0asm\1\0\0\0", "a WebAssembly module"), ("c.wasm", b"\0asm\x0d\0\1\0", "a WebAssembly component"),
                                    ("t.wat", "(module)", "a WebAssembly module or component, as text"), ("n.aot", b"\0aot\6\0\0\0", "a compiled guest")):
            self.file(name, content)
            self.check_error(self.wasinn("inspect", name), f"{name} is {what}, and no model: `wasinn check MODEL {name}` says")

    def test_a_folder_of_several_models(self):
        (self.dir / "models/digits/1").mkdir(parents=True)
        self.file("models/digits/1/model.gguf", "GGUF\nin x f32 2\n")
        for name in ("b.gguf", "a.gguf"):
            self.file(f"models/{name}", "GGUF\nin x f32 2\n")
        self.file("models/readme.txt", "no model")
        said = "folder 'models' holds no model: looked for model.onnx, 1/model.onnx and the like; it has a.gguf, b.gguf, digits: name one of them"
        self.check_error(self.wasinn("inspect", "models"), said)
        self.check_error(self.wasinn("inspect", "models", "--encoding", "gguf"), "it has a.gguf")

    def test_pipeline(self):
        self.file("p.toml", f"""
            backend_dirs = ["{ECHO}"]
            [models.m]
            path = "m.gguf"
            backend = "echo"
            [models.p]
            step = [{{ model_name = "m", input_map = {{ "image" = "a", "mask" = "b" }}, output_map = {{ "image" = "c" }} }}]
            """)
        result = self.wasinn("inspect", "p", "--config", "p.toml")
        self.check(result, err="")
        rows = [line.split() for line in result.out.splitlines()]
        self.assertEqual(rows[0], ["p", "(pipeline:", "m)"])
        self.assertEqual([row[2] for row in rows[3:]], ["a", "b", "c"])
        model = json.loads(self.wasinn("inspect", "p", "--config", "p.toml", "--json").out)
        self.assertEqual((model["encoding"], model["path"], model["steps"]), ("pipeline", "", ["m"]))

    def test_a_library_path_that_leads_to_the_working_folder(self):
        for path in (":", "/nonexistent:", "/nonexistent::/usr/lib", "lib", "./lib:/usr/lib"):
            with self.subTest(path=path):
                self.check_error(self.wasinn("inspect", "m.gguf", env={"LD_LIBRARY_PATH": path}), "LD_LIBRARY_PATH has a part")
        for path in ("", "/nonexistent", "/nonexistent:/usr/lib"):
            self.check(self.wasinn("inspect", "m.gguf", env={"LD_LIBRARY_PATH": path}), out="image", err="")

    def test_folder_and_name(self):
        self.file("dir/m/2/model.gguf", "GGUF\nin two i64 2\n")
        self.check(self.wasinn("inspect", "dir/m"), out="two", err="")
        self.check(self.wasinn("inspect", "dir/m/"), out="two", err="")
        self.check(self.wasinn("inspect", "m", "--models", "dir"), out="two", err="")
        self.check(self.wasinn("inspect", "m:2", "--models", "dir"), out="two", err="")
        self.check(self.wasinn("inspect", "other", "--model", "other=m.gguf"), out="image", err="")

    def test_errors(self):
        self.check_error(self.wasinn("inspect", "nowhere.gguf"), "nowhere.gguf is neither a file nor a folder nor")
        self.file("noise.onnx", bytes(range(256)))
        self.check(self.wasinn("inspect", "noise.onnx"), code=125, out="", err="wasinn: error: ")
        self.file("broken.gguf", "GGUF\nfail_load 2\n")
        self.check_error(self.wasinn("inspect", "broken.gguf"), "broken.gguf")
        self.file("folder/README.md", "# No model\n")
        self.check_error(self.wasinn("inspect", "folder/README.md"), "error: folder/README.md: the bytes are not of a model format")
        self.file("lm.litertlm", b"LITERTLM\1\0\0\0" + bytes(1 << 20))
        self.check_error(self.wasinn("inspect", "lm.litertlm"), "error: lm.litertlm: the bytes are a bundle of LiteRT-LM (.litertlm), with a language model")
        result = self.wasinn("inspect", "m.gguf", "--encoding", "xml")
        self.check_error(result, "--encoding: unknown encoding 'xml'", code=2)


    def test_a_file_that_ends_its_process(self):
        self.file("dies.gguf", "GGUF\nin x f32 1\ndies load\n")
        self.assertNotIn(self.wasinn("inspect", "dies.gguf").code, (0, 125))
        result = self.wasinn("inspect", "--isolate", "dies.gguf")
        self.check(result, code=125, out="", err="wasinn: error: dies.gguf: the model's worker is gone: ")
        self.check(self.wasinn("inspect", "--isolate", "m.gguf"), out="image", err="")

    def test_flags_that_a_name_does_not_take(self):
        for flag in (["--isolate"], ["--encoding", "ggml"]):
            result = self.wasinn("inspect", "other", "--model", "other=m.gguf", *flag)
            self.check_error(result, f"{flag[0]}: is for a file or folder, and 'other' is neither", code=2)


class OutputTest(CommandTest):
    """A failed write is an error of every command."""

    def check_full(self, *args):
        with open("/dev/full", "wb") as full:
            result = self.wasinn(*args, stdout=full)
        self.check_error(result, "cannot write to standard output")

    def test_a_full_disk(self):
        self.file("m.gguf", "GGUF\nin x f32 2,3\n")
        self.check_full("inspect", "m.gguf")
        self.check_full("inspect", "m.gguf", "--json")
        self.check_full("backends")
        self.check_full("backends", "--json")
        self.check_full("--version")
        self.check_full("run", "--help")

    def test_more_than_a_buffer(self):
        inputs = "".join(f"in input-{i} f32 2,3\n" for i in range(2000))
        self.file("m.gguf", "GGUF\n" + inputs)
        self.check_full("inspect", "m.gguf", "--json")


class BackendsTest(CommandTest):
    def test_table(self):
        result = self.wasinn("backends")
        self.check(result, err="")
        rows = {line.split()[0]: line for line in result.out.splitlines() if line}
        self.assertIn("ENCODINGS", rows["BACKEND"])
        self.assertIn("not found", rows["llama"])
        self.assertIn("echo", rows)
        self.assertIn("scripts/deps.sh llama", result.out)

    def test_settings_that_are_wrong(self):
        for name, more, out, err in (
            ("key", "[backends.echo]\nmissin = true\n", "\nDoes not open:\n  echo: backend 'echo' has no key 'missin'; did you mean 'missing'?\n", ""),
            ("folder", f'backend_dirs = ["nowhere", "{ECHO}"]\n', "\necho ", f"wasinn: warning: backend_dirs: there is no folder '{self.dir}/nowhere'\n"),
            ("worker", 'worker = "no-worker"\n', "\necho ", f"wasinn: warning: worker: '{self.dir}/no-worker' cannot be run (No such file or directory)"),
        ):
            with self.subTest(name):
                settings = SETTINGS.replace(f"backend_dirs = ['{ECHO}']\n", "") if name == "folder" else SETTINGS
                result = self.wasinn("backends", "--config", self.file(f"{name}.toml", settings % more))
                self.check(result, out=out, err=err)
                self.assertNotIn("to install it", result.out.partition("Does not open")[2])  # it is no framework that is missing

    def test_json(self):
        result = self.wasinn("backends", "--json")
        self.check(result, err="")
        backends = {backend["name"]: backend for backend in json.loads(result.out)}
        self.assertTrue(backends["echo"]["available"])
        self.assertFalse(backends["llama"]["available"])
        self.assertIn("onnx", backends)
        keys = {"name", "encodings", "available", "framework", "devices", "library", "missing", "install", "keys", "looked_for"}
        self.assertEqual(set(backends["echo"]), keys)

    def test_verbose_lists_keys_and_what_workers_have(self):
        result = self.wasinn("backends", "--verbose")
        for text in ("\necho: shade (guest)\n  has no effect\n", "\necho: colour (model)\n", "sealed memory files: yes", "\n  echo: yes\n"):
            self.check(result, out=text, err="")
