"""wasinn inspect --graph: drawings of models."""

import os
import pathlib
import re
import signal
import xml.etree.ElementTree as ET

from command import ECHO, SETTINGS, CommandTest

DIGITS = pathlib.Path(__file__).resolve().parents[2] / "models/digits.onnx"


class GraphTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("echo.toml", SETTINGS.replace("[backends.onnx]\nlibrary", "[backends.onnx]\n#") % "")

    def draw(self, name, model=str(DIGITS), *flags, **more):
        return self.wasinn("inspect", "--graph", name, model, *flags, **more)

    def test_dot(self):
        self.check(self.draw("digits.dot"), out="probabilities", err="")
        dot = (self.dir / "digits.dot").read_text()
        labels = re.findall(r'\[label="([^"]*)", tooltip', dot)
        self.assertEqual(labels[0], r"image\nbatch×1×8×8")
        self.assertEqual(labels[1], r"Conv\n16×1×3×3\n16")
        self.assertEqual(labels[-1], r"probabilities\nbatch×10")
        edges = re.findall(r"n(\d+) -> n(\d+)", dot)
        self.assertEqual(edges, [(str(i), str(i + 1)) for i in range(len(labels) - 1)], "one after the other")

    def test_svg(self):
        self.check(self.draw("digits.svg"), err="")
        svg = ET.parse(self.dir / "digits.svg").getroot()
        texts = [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual([text for text in texts if text == "Conv"], ["Conv"] * 3)

    def test_without_graphviz(self):
        result = self.draw("digits.svg", env={"PATH": ".:/nonexistent"})
        self.check_error(result, "`apt-get install graphviz` installs it", code=2)
        self.check(self.draw("digits.dot", env={"PATH": "/nonexistent"}), err="")

    def test_graphviz_has_limits_and_no_file(self):
        program = self.dir / "bin/dot"
        self.file("bin/dot", "#!/bin/sh\nulimit -t >limits\nulimit -v >>limits\nread -r line\necho \"$line\" >>limits\nkill -s XCPU $$\n")
        program.chmod(0o755)
        self.file("tmp/kept", "")
        result = self.draw("digits.svg", env={"PATH": str(program.parent), "TMPDIR": str(self.dir / "tmp")})
        self.check_error(result, "Graphviz took too long: write .dot")
        self.assertEqual((self.dir / "limits").read_text().splitlines(), ["20", str(2 << 20), "digraph model {"])
        self.assertEqual(os.listdir(self.dir / "tmp"), ["kept"])
        self.file("bin/dot", "#!/bin/sh\nexit 1\n")
        self.check_error(self.draw("digits.svg", env={"PATH": str(program.parent)}), "could not draw digits.svg")
        ignoring = self.draw("digits.svg", env={"PATH": str(program.parent)}, prepare=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.check_error(ignoring, "could not draw digits.svg")

    def test_pipeline(self):
        self.file("m.gguf", "GGUF\nin x f32 2,3\n")
        self.file("p.toml", f'backend_dirs = ["{ECHO}"]\n[models.m]\npath = "m.gguf"\nbackend = "echo"\n'
                            '[models.p]\nstep = [{ model_name = "m", input_map = { "x" = "a" }, output_map = { "x" = "b" } }]\n')
        self.check(self.draw("p.dot", "p", "--config", "p.toml"), err="")
        self.assertEqual(re.findall(r'\[label="([^"]+)"', (self.dir / "p.dot").read_text()), ["a f32 [2, 3]", "m", "b f32 [2, 3]"])

    def test_errors(self):
        self.file("m.gguf", "GGUF\nin x f32 2\n")
        self.check_error(self.draw("m.dot", "m.gguf"), "--graph draws files of ONNX and pipelines, and this is ggml")
        self.check_error(self.draw("m.jpeg"), "ends with none of .dot, .svg", code=2)
        self.check_error(self.draw("no/where.dot"), "cannot write no/where.dot")
