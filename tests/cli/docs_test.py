"""The examples in the pages work as they are."""

import json
import re
import shutil

from command import CommandTest
from pages import FILE, SOURCE, PagesTest, blocks, links, pages_with, shown_commands

PROMPT = "$ "


def steps(block):
    """(command, what it prints) of a block; of one without prompts all of it, and None."""
    if not block.startswith(PROMPT):
        return [(block, None)]
    shown = [step.splitlines() for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    found = []
    for lines in shown:
        end = next(i for i, line in enumerate(lines) if not line.endswith("\\")) + 1
        found.append(("\n".join(lines[:end]), lines[end:]))
    return found


class DocsTest(CommandTest):
    def test_the_settings_of_configuration_md(self):
        page = (SOURCE / "docs/configuration.md").read_text()
        self.file("all.toml", re.search(r"```toml\n(.*?)```", page, re.DOTALL).group(1))
        (self.dir / "models" / "other").mkdir(parents=True)
        for place in ("models", "models/other/model.onnx"):
            shutil.copy(SOURCE / "models/digits.onnx", self.dir / place)
        result = self.run_probe("graphs", "digits", flags=["--config", "all.toml"], env={"WASINN_CONFIG": ""})
        self.check(result, out="graphs 64, then errno 7\n")
        self.assertEqual(len(result.err.splitlines()), 1, "no more than the one about the 65th: " + result.err)

    def test_operators_md_has_every_flag_and_variable(self):
        page = (SOURCE / "docs/operators.md").read_text()
        words = " ".join(re.findall(r"`([^`\n]+)`", page))
        missing = set()
        for command in re.findall(r"^  ([a-z-]+)  ", self.wasinn("--help").out.split("Subcommands:")[1], re.MULTILINE):
            out = self.wasinn(command, "--help").out  # of bench and serve, if they are built
            flags = re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+)", out, re.MULTILINE)
            missing |= {f"{command} {flag}" for flag in flags if not re.search(rf"(?<!\S){flag}(?![\w-])", words)}
        for path in [*SOURCE.glob("src/**/*.cc"), *SOURCE.glob("bench/*.cc")]:
            missing |= set(re.findall(r'"(WASINN_(?!BENCH_)[A-Z_]*[A-Z])"', path.read_text())) - set(words.split())
        self.assertEqual(missing, set(), "of docs/operators.md")


class CommandsTest(PagesTest):
    def test_commands_that_pages_mark(self):
        pages = pages_with("run")
        self.assertGreater(len(pages), 4)
        for page in pages:
            for name, content in FILE.findall(page.read_text(encoding="utf-8")):
                self.file(name, content)
            for needed, block, _ in blocks(page, "run"):
                if needed and needed not in self.there:
                    continue
                with self.subTest(f"{page.relative_to(SOURCE)}: {block.splitlines()[0]}"):
                    for command, printed in steps(block):
                        self.run_step(command, printed)

    def test_what_differs_is_noticed(self):
        self.assertEqual(steps("$ a \\\n  b\none\n$ c\n"), [("a \\\n  b", ["one"]), ("c", [])])
        self.run_step("printf 'one\\ntwo  1.25 ms\\n'", ["one", "two  7.50 ms"])
        for command, printed in (("false; true", None), ("false | true", None), ("echo one", ["two"]), ("printf 'two\\none\\n'", ["one", "two"])):
            with self.assertRaises(AssertionError):
                self.run_step(command, printed)


class NamesTest(CommandTest):
    """Commands that no test runs, since they take long, or need what is not here: what they name is there nevertheless."""

    def each(self, pattern):
        found = [(page.relative_to(SOURCE), *match.groups()) for page in links.pages() for line in shown_commands(page) for match in re.finditer(pattern, line)]
        self.assertGreater(len(found), 10, pattern)
        return found

    def test_files(self):
        folders = "scripts|examples|guest|tests|bench|models|docs|src|cmake|packaging"
        named = self.each(rf"(?<![\w./-])((?:{folders})/[\w./-]*\w)(?![\w/*{{<[.-])")
        missing = {f"{page}: {file}" for page, file in named if "/target/" not in file and not (SOURCE / file).exists()}
        self.assertEqual(missing, set())

    def test_flags(self):
        subcommands = set(re.findall(r"^  ([a-z-]+)  ", self.wasinn("--help").out.split("Subcommands:")[1], re.MULTILINE))
        flags = {}
        for page, command, rest in self.each(r"(?:^|/|&& |; |npx )wasinn ([a-z][a-z-]*)((?: [^|&;>]*)?)(?![\w-])"):
            with self.subTest(f"{page}: wasinn {command}{rest}"):
                self.assertIn(command, subcommands)
                if command not in flags:
                    done = self.wasinn(command, "--help")
                    flags[command] = set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", done.out)) if done.code == 0 else None
                if flags[command] is not None:  # else a program that this build has not
                    self.assertLessEqual(set(re.findall(r"(?<= )--?[a-zA-Z][\w-]*", re.sub(r" \S+\.wasm .*", "", rest))), flags[command])

    def test_what_deps_gets(self):
        deps = (SOURCE / "scripts" / "deps.sh").read_text()
        names = set(re.search(r"^names=\((.*)\)$", deps, re.MULTILINE)[1].split()) | set(re.search(r"^extras=\((.*?)\)", deps, re.MULTILINE)[1].split())
        for page, asked in self.each(r"scripts/deps\.sh ((?:[\w-]+ ?)+)"):
            self.assertLessEqual(set(asked.split()), names | {"all", "outdated"}, page)

    def test_presets(self):
        presets = json.loads((SOURCE / "CMakePresets.json").read_text())
        for page, command, preset in self.each(r"\b(cmake|cmake --build|ctest) --preset (\S+)"):
            kind = {"cmake": "configurePresets", "cmake --build": "buildPresets", "ctest": "testPresets"}[command]
            self.assertIn(preset, {one["name"] for one in presets[kind]}, page)
