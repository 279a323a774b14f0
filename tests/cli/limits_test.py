"""The flags that bound what a guest may use."""

from command import MODEL, CommandTest


class LimitsTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("m.gguf", MODEL)
        self.file("slow.gguf", MODEL + "delay 60000\n")

    def probe(self, flags, *args):
        models = ["--model", "m=m.gguf", "--model", "slow=slow.gguf"]
        return self.run_probe(*args, flags=models + flags)

    def test_defaults(self):
        self.check(self.probe([], "graphs", "m", "load"), out="graphs 64, then errno 7\n")
        self.check(self.probe([], "contexts", "m"), out="contexts 256, then errno 7\n")
        self.check(self.probe([], "load"), out="load errno 0\n", err="")

    def test_max_contexts(self):
        self.check(self.probe(["--nn-max-contexts", "5"], "contexts", "m"), out="contexts 5, then errno 7\n")

    def test_max_bytes(self):
        self.check(self.probe(["--nn-max-bytes", "10"], "load", "infer", "m"), out="load errno 7\ninfer m errno 7")
        self.check(self.probe(["--nn-max-bytes", "1K"], "load", "infer", "m"), out="load errno 0\ninfer m errno 0")

    def test_timeout(self):
        result = self.probe(["--nn-timeout", "50ms"], "infer", "slow", "args")
        self.check(result, out="infer slow errno 5 sum 0\narg cli-probe.wasm\n", err="wasinn: warning: ")
