"""Help, version and usage errors."""

import pathlib
import re
import shutil
import tomllib

from command import WASINN, CommandTest

CONFIGURATION = pathlib.Path(__file__).resolve().parents[2] / "docs/configuration.md"


class HelpTest(CommandTest):
    def test_version(self):
        result = self.wasinn("--version")
        self.check(result, err="")
        self.assertRegex(result.out, r"^wasinn \d+\.\d+\.\d+\nWasmtime \d+\.\d+\.\d+( \(/.*\))?\n(WAMR \d+\.\d+\.\d+( \(/.*\))?\n)?backend API \d+\.\d+\n$")

    def test_nothing_prints_the_help_as_a_usage_error(self):
        self.check(self.wasinn(), code=2, out="", err="Usage: wasinn")

    def test_help_lists_the_commands(self):
        result = self.wasinn("--help")
        self.check(result, out="Usage: wasinn", err="")
        for command in ("demo", "new", "run", "compile", "inspect", "backends", "check-backend", "bench", "serve", "completions", "help", "doctor", "models", "check"):
            self.assertIn(f"\n  {command} ", result.out)

    def test_each_command_has_help_with_an_example(self):
        for command in ("demo", "new", "run", "compile", "inspect", "backends", "check-backend", "completions", "help", "doctor", "models", "check"):
            result = self.wasinn(command, "--help")
            self.check(result, out=f"Usage: wasinn {command}", err="")
            self.assertRegex(result.out, rf"Examples?:\n  wasinn {command} ?")
            self.assertLessEqual(max(map(len, result.out.splitlines())), 110, result)

    def test_run_help_names_every_flag(self):
        out = self.wasinn("run", "--help").out
        flags = "--model --models -S,--wasi --nn-preload --dir --env --config --nn-max-graphs --nn-max-contexts --nn-max-bytes"
        for flag in (flags + " --nn-timeout --nn-load --nn-isolated-gpu --timeout --max-memory --max-table-elements --fuel --max-threads --compile-timeout --max-compile-memory --threads --engine --allow-precompiled --no-cache --log-level --json --stats --env-file --invoke --allow-outbound --profile -W,--wasm").split():
            self.assertIn(f"  {flag} ", out)

    def test_run_help_has_the_defaults_of_configuration_md(self):
        defaults = tomllib.loads(re.search(r"```toml\n(.*?)```", CONFIGURATION.read_text(), re.DOTALL).group(1))
        limits = defaults["limits"]
        self.assertEqual(limits["max_model_bytes"], limits["max_tensor_bytes"])
        out = self.wasinn("run", "--help").out
        for flag, default in (
            ("--threads", f"default {defaults['threads']}"),
            ("--timeout", f"{limits['run_timeout_ms']} (default)"),
            ("--max-threads", f"default {limits['max_threads']}"),
            ("--compile-timeout", f"default {defaults['engine']['compile_timeout_ms'] // 60000}m"),
            ("--max-compile-memory", f"default {defaults['engine']['max_compile_bytes'] >> 30}G"),
            ("--fuel", f"{limits['max_fuel']} (default)"),
            ("--nn-max-graphs", f"default {limits['max_graphs']}"),
            ("--nn-max-contexts", f"default {limits['max_contexts']}"),
            ("--nn-max-bytes", f"default {limits['max_model_bytes'] >> 30}G of each"),
            ("--nn-timeout", f"default {limits['compute_timeout_ms'] // 1000}s and {limits['load_timeout_ms'] // 1000}s"),
        ):
            self.assertRegex(out, rf"\n  {flag} [^\n]*(\n {{20,}}[^\n]*)?\b{re.escape(default)}")

    def test_programs_that_are_not_installed(self):
        alone = shutil.copy(WASINN, self.dir / "wasinn")
        lib = str(pathlib.Path(WASINN).parents[1] / "lib")
        result = self.wasinn("bench", "--help", program=alone, env={"LD_LIBRARY_PATH": lib})
        self.check(result, out="to get it: where wasinn was built, cmake --build --preset release --target wasinn_bench && cmake --install build/release --prefix PREFIX --component bench.", err="")
        result = self.wasinn("serve", program=alone, env={"LD_LIBRARY_PATH": lib})
        self.check_error(result, "where wasinn was built, scripts/deps.sh serve && cmake --preset release && cmake --build --preset release --target wasinn_serve && ")
        result = self.wasinn("bench", "m.onnx", program=alone, env={"LD_LIBRARY_PATH": lib})
        self.check_error(result, "there is no ")

    def test_usage_errors(self):
        for args, text in (
            (["fly"], "unknown command fly; known are demo, new, "), (["rnu"], "unknown command rnu; did you mean 'run'?"),
            (["run", "--", "guest.wasm"], "no '--' is needed: all that follows the module goes to the guest"),
            (["check", "--", "m.onnx", "guest.wasm"], "no '--' is needed"),
            (["run", "--nn-isolated-gpu", "guest.wasm"], "--nn-isolated-gpu: 'guest.wasm' is not true or false"),
            (["--vresion"], "unknown flag --vresion; did you mean '--version'?"),
            (["run"], "MODULE is required"),
            (["run", "--fly", "guest.wasm"], "unknown flag --fly"), (["run", "--timeot=5s", "guest.wasm"], "unknown flag --timeot; did you mean '--timeout'?"),
            (["inspect", "--jsn", "m"], "unknown flag --jsn; did you mean '--json'?"), (["check", "--stat", "m", "g"], "unknown flag --stat"),
            (["help", "rnu"], "did you mean 'run'?"),
            (["run", "--model"], "--model"),
            (["run", "--model", "digits", "guest.wasm"], "'digits' is not NAME=PATH\n"),
            (["run", "--model", WASINN, "guest.wasm"], f"'{WASINN}' is not NAME=PATH, such as wasinn={WASINN}\n"),
            (["run", "--nn-max-graphs", "many", "guest.wasm"], "'many' is not a count"),
            (["run", "--nn-max-bytes", "64X", "guest.wasm"], "'64X' is not a size"),
            (["run", "--nn-timeout", "soon", "guest.wasm"], "'soon' is not a duration"),
            (["run", "--log-level", "loud", "guest.wasm"], "unknown log level 'loud'; known are error, warning, info, debug"),
            (["run", "--dir", "::x", "guest.wasm"], "'::x' is not HOST[::GUEST]"),
            (["run", "--env", "=x", "guest.wasm"], "'=x' is not NAME=VALUE"),
            (["run", "--env", "NOT_SET", "guest.wasm"], "the environment has no NOT_SET"),
            (["inspect"], "MODEL is required"),
            (["inspect", "a", "b"], "b"),
            (["backends", "--fly"], "--fly"),
        ):
            with self.subTest(args=args):
                self.check_error(self.wasinn(*args), text, code=2)
