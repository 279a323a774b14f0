"""Help, version and usage errors."""

from command import CommandTest


class HelpTest(CommandTest):
    def test_version(self):
        result = self.wasinn("--version")
        self.check(result, err="")
        self.assertRegex(result.out, r"^wasinn \d+\.\d+\.\d+\n$")

    def test_nothing_prints_the_help_as_a_usage_error(self):
        self.check(self.wasinn(), code=2, out="", err="Usage: wasinn")

    def test_help_lists_the_commands(self):
        result = self.wasinn("--help")
        self.check(result, out="Usage: wasinn", err="")
        for command in ("run", "inspect", "backends", "check-backend"):
            self.assertIn(f"\n  {command} ", result.out)

    def test_each_command_has_help_with_an_example(self):
        for command in ("run", "inspect", "backends", "check-backend"):
            result = self.wasinn(command, "--help")
            self.check(result, out=f"Usage: wasinn {command}", err="")
            self.assertRegex(result.out, rf"Examples?:\n  wasinn {command} ?")
            self.assertLessEqual(max(map(len, result.out.splitlines())), 110, result)

    def test_run_help_names_every_flag(self):
        out = self.wasinn("run", "--help").out
        flags = "--model --models -S,--wasi --nn-preload --dir --env --config --nn-max-graphs --nn-max-contexts --nn-max-bytes"
        for flag in (flags + " --nn-timeout --nn-load --timeout --max-memory --max-table-elements --fuel --max-threads --threads --engine --allow-precompiled --no-cache --log-level").split():
            self.assertIn(f"  {flag} ", out)

    def test_usage_errors(self):
        for args, text in (
            (["fly"], "unknown command fly"),
            (["run"], "MODULE is required"),
            (["run", "--fly", "guest.wasm"], "unknown flag --fly"),
            (["run", "--model"], "--model"),
            (["run", "--model", "digits", "guest.wasm"], "'digits' is not NAME=PATH"),
            (["run", "--nn-max-graphs", "many", "guest.wasm"], "'many' is not a count"),
            (["run", "--nn-max-bytes", "64X", "guest.wasm"], "'64X' is not a size"),
            (["run", "--nn-timeout", "soon", "guest.wasm"], "'soon' is not a duration"),
            (["run", "--log-level", "loud", "guest.wasm"], "unknown log level 'loud'; known are error, warning, info, debug"),
            (["run", "--dir", "::x", "guest.wasm"], "'::x' is not HOST[::GUEST]"),
            (["run", "--env", "=x", "guest.wasm"], "'=x' is not NAME=VALUE"),
            (["run", "--env", "NOT_SET", "guest.wasm"], "the environment has no NOT_SET"),
            (["run", "-S", "http", "guest.wasm"], "unknown 'http'"),
            (["inspect"], "MODEL is required"),
            (["inspect", "a", "b"], "b"),
            (["backends", "--fly"], "--fly"),
        ):
            with self.subTest(args=args):
                self.check_error(self.wasinn(*args), text, code=2)
