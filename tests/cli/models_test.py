"""Every way to name a model."""

from command import MODEL, CommandTest


class ModelsTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("m.gguf", MODEL)
        self.file("dir/echo/model.gguf", MODEL)
        self.file("dir/versions/1/model.gguf", MODEL)
        self.file("dir/versions/3/model.gguf", MODEL)

    def check_infers(self, flags, *names):
        for name in names:
            result = self.run_probe("infer", name, flags=flags)
            self.check(result, out=f"infer {name} errno 0 sum 21\n", err="")

    def check_refused(self, flags, text, code=125):
        self.check_error(self.run_probe("infer", "m", flags=flags), text, code=code)

    def test_model(self):
        self.check_infers(["--model", "m=m.gguf"], "m")
        self.check_infers(["--model=m=m.gguf", "--model", "other=m.gguf"], "m", "other")
        self.check_infers(["--model", "m=m.gguf,encoding=ggml,target=cpu,version=4"], "m", "m:4")
        self.check_infers(["--model", "m=dir/echo"], "m")
        self.check_infers(["--model", f"m={self.dir}/dir/versions"], "m", "m:1", "m:3")

    def test_the_last_of_a_name_wins(self):
        self.file("broken.gguf", "GGUF\nfail_load 5\n")
        self.check_infers(["--model", "m=broken.gguf", "--model", "m=m.gguf"], "m")

    def test_model_errors(self):
        self.check_refused(["--model", "m=nowhere.gguf"], "nowhere.gguf")
        self.check_refused(["--model", "m=m.gguf,encoding=xml"], "--model: unknown encoding 'xml'", code=2)
        self.check_refused(["--model", "m=m.gguf,target=moon"], "moon", code=2)
        self.check_refused(["--model", "m=m.gguf,version=x"], "'x' is not a version", code=2)
        # "echo:1" would be a version of "echo".
        colon = "a model cannot be named 'echo:1': a colon separates a name and a version"
        self.check_refused(["--model", "echo:1=m.gguf"], colon)
        self.file("colon.toml", self.dir.joinpath("echo.toml").read_text() + "[models.'echo:1']\npath = 'm.gguf'\n")
        self.check_refused(["--config", "colon.toml"], colon)
        (self.dir / "colons" / "echo:1").mkdir(parents=True)
        self.file("colons/echo:1/model.gguf", "GGUF\nin x f32 1\n")
        self.check_refused(["--models", "colons"], colon)
        self.check_refused(["--model", "m=m.gguf,colour=red"], "unknown 'colour'", code=2)

    def test_unknown_name(self):
        self.check(self.run_probe("infer", "x", flags=["--model", "m=m.gguf"]), out="infer x errno 8")
        self.check(self.run_probe("infer", "m.gguf", flags=["--model", "m=m.gguf"]), out="infer m.gguf errno 8")

    def test_the_error_for_an_unknown_name_lists_the_known_ones(self):
        result = self.run_probe("infer", "x")
        self.check(result, err="no model is registered as 'x', and none under any other name (--model NAME=PATH registers one)")
        result = self.run_probe("infer", "x", flags=["--model", "m=m.gguf", "--models", "dir"])
        self.check(result, err="no model is registered as 'x': there are 'echo', 'm', 'versions' (--model NAME=PATH")
        many = [flag for i in range(30) for flag in ("--model", f"m{i:02}{'n' * 100}=m.gguf")]
        result = self.run_probe("infer", "x", flags=many)
        self.check(result, err="nnn...' and 20 more (--model")
        self.assertEqual(result.err.count("'m0"), 10)
        self.assertLess(len(result.err), 1024)
        # Names that the policy hides are not listed.
        self.file("policy.toml", self.dir.joinpath("echo.toml").read_text() + "[policy]\nmodels = ['m', 'x']\n")
        flags = ["--config", "policy.toml", "--model", "m=m.gguf", "--model", "secret=m.gguf"]
        result = self.run_probe("infer", "x", flags=flags)
        self.check(result, err="no model is registered as 'x': there is 'm' (")
        self.assertNotIn("secret", result.err)

    def test_models(self):
        self.check_infers(["--models", "dir"], "echo", "versions", "versions:1", "versions:3")
        self.check(self.run_probe("infer", "versions:2", flags=["--models", "dir"]), out="errno 8",
                   err="no model is registered as 'versions:2': there are 'echo', 'versions:1', 'versions:3'")
        self.check_refused(["--models", "nowhere"], "nowhere")

    def test_wasmtime(self):
        for spelling in ("ggml::dir/echo", "ggml:dir/echo/", "GGML::dir/echo", "ggml::./dir/echo"):
            self.check_infers(["-S", f"nn-graph={spelling}"], "echo")
            self.check_infers(["-S", f"nn,cli,nn-graph={spelling}"], "echo")
        for flags in (["--wasi=nn"], ["--wasi", "nn"], ["--wasi", "nn,nn-graph=ggml::dir/versions"]):
            self.check_infers(flags + ["--wasi", "nn-graph=ggml::dir/echo"], "echo")
        self.check_infers(["-Snn", "-Snn-graph=ggml::dir/echo"], "echo")
        both = f"nn-graph=ggml::{self.dir}/dir/echo,nn-graph=autodetect::dir/versions"
        self.check_infers(["-S", both], "echo", "versions")

    def test_wasmtime_errors(self):
        self.check_refused(["-S", "nn-graph=ggml::nowhere"], "nowhere")
        for spelling in ("ggml", "ggml::", "::dir", "xml::dir", "ggml:::dir"):
            self.check_refused(["-S", f"nn-graph={spelling}"], "-S", code=2)

    def test_wasmedge(self):
        for spelling in ("m:GGML:CPU:m.gguf", "m:ggml:cpu:m.gguf", "m:GGML:AUTO:m.gguf", "m:AutoDetect:CPU:m.gguf"):
            self.check_infers(["--nn-preload", spelling], "m")

    def test_wasmedge_errors(self):
        self.check_refused(["--nn-preload", "m:GGML:CPU:nowhere.gguf"], "nowhere.gguf")
        for spelling in ("m", "m:GGML:CPU", "m:GGML:CPU:", ":GGML:CPU:m.gguf", "m:XML:CPU:m.gguf", "m:GGML:MOON:x"):
            self.check_refused(["--nn-preload", spelling], "--nn-preload", code=2)
        self.check_refused(["--nn-preload", "m:onnx:cpu:http://host:8000/v2/models/m"], "it needs --model", code=2)

    def test_an_address_without_its_scheme(self):
        for path in ("localhost:8001/digits", "[::1]:8001/digits"):
            self.check_refused(["--model", f"m={path}"], f"{path} does not exist; an address begins with grpc:// or http://")
            self.check_error(self.wasinn("inspect", path), "; an address begins with grpc:// or http://")
        for path in ("nowhere/a:1", "a:b/c", "a:1", ":1/c"):
            self.assertNotIn("an address begins", self.wasinn("inspect", path).err)

    def test_a_model_whose_framework_is_missing_is_the_guests_error(self):
        self.file("m.tflite", b"\x1c\0\0\0TFL3" + bytes(100))
        self.file("missing.toml", '[backends.tflite]\nlibrary = "/nonexistent"\n')
        result = self.run_probe("infer", "m", flags=["--config", "missing.toml", "--model", "m=m.tflite"])
        self.check(result, out="infer m errno 6", err="wasinn: warning: ")
        self.assertIn("scripts/deps.sh tflite", result.err)
