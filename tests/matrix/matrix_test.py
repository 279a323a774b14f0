"""The matrix of engines, backends and dialects: what it makes of results that are made up, and whether the README has its shape."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import unittest

SOURCE = pathlib.Path(os.environ["WASINN_SOURCE"])
sys.path.insert(0, str(SOURCE / "scripts"))
sys.dont_write_bytecode = True
import matrix  # noqa: E402

TABLE = r"""
[engines]
one = { title = "One", prefix = "" }
two = { title = "Two", prefix = "two.", variants = ["again."] }
[backends]
red = "Red"
blue = "Blue"
[dialects]
old = { group = "core", title = "old" }
new = { group = "components", title = "new" }
[[not_applicable]]
engines = ["two"]
dialects = ["new"]
reason = "Two runs nothing new"
[formats]
R = "red"
B = "blue"
[[tests]]
name = 'Good\.\w+/(?P<format>[A-Z])_(?P<dialect>\w+)'
[[tests]]
name = 'Bad\.\w+/(?P<format>[A-Z])_(?P<dialect>\w+)'
hostile = true
[[tests]]
name = 'Red\..*'
backends = ["red"]
dialects = ["old"]
[[tests]]
name = 'Echo\..*'
outside = "no backend"
"""
CELLS = [f"{suite}.Test/{backend}_{dialect}" for suite in ("Good", "Bad") for backend in "RB" for dialect in ("old", "new")]
TESTS = [*CELLS, *(f"two.{name}" for name in CELLS if name.endswith("old")), "Red.Only", "Echo.Test"]
BUILT = {"engines": ["one", "two"], "backends": ["red", "blue"], "components": True}
README = f"before\n{matrix.BEGIN}\nwhat was there\n{matrix.END}\nafter\n"


def junit(outcomes):
    bodies = {"run": "<system-out>ok</system-out>", "fail": "<failure/><system-out>it broke</system-out>",
              "notrun": '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/><system-out>x.cc:1: Skipped\nno tool\n</system-out>',
              "empty": "<system-out>[==========] Running 0 tests from 0 test suites.</system-out>"}
    cases = "".join(f'<testcase name="{name}" status="{"run" if how == "empty" else how}" time="1">{bodies[how]}</testcase>'
                    for name, how in outcomes.items())
    return f"<testsuite>{cases}</testsuite>"


class MatrixTest(unittest.TestCase):
    def tell(self, outcomes=None, tests=TESTS, built=BUILT, table=TABLE, readme=None, flags=()):
        """Runs the script: its exit status, what it prints, and the README after it."""
        outcomes = {**dict.fromkeys(tests, "run"), **(outcomes or {})}
        with tempfile.TemporaryDirectory() as folder:
            files = {"table": table, "built": json.dumps(built), "tests": json.dumps({"tests": [{"name": t} for t in tests]}),
                     "results": junit({name: how for name, how in outcomes.items() if how})}
            if readme is not None:
                files["readme"] = readme
            paths = {name: pathlib.Path(folder) / name for name in files}
            for name, text in files.items():
                paths[name].write_text(text)
            flags = [*flags, *(["--write-readme", paths["readme"]] if readme is not None else [])]
            done = subprocess.run([sys.executable, "-B", SOURCE / "scripts" / "matrix.py", *flags,
                                   *(paths[name] for name in ("table", "built", "tests", "results"))],
                                  capture_output=True, text=True)
            self.assertEqual(done.stderr, "")
            return done.returncode, done.stdout, paths["readme"].read_text() if readme is not None else None

    def row(self, out, engine, backend):
        return re.search(rf"^{engine} .*?\n(?:.+\n)*?{backend} +(.*)$", out, re.M).group(1).split("  ")

    def words(self, out, engine, backend):
        return [word.strip() for word in self.row(out, engine, backend) if word.strip()]

    def test_everything_passed(self):
        code, out, _ = self.tell()
        self.assertEqual(code, 0, out)
        self.assertEqual(self.words(out, "One", "red"), ["2+1", "1+1"])
        self.assertEqual(self.words(out, "One", "blue"), ["1+1", "1+1"])
        self.assertEqual(self.words(out, "Two", "red"), ["1+1", "-"])
        self.assertIn("not applicable: Two runs nothing new", out)

    def test_a_variant_is_of_its_engines_cells(self):
        tests = [*TESTS, "two.again.Bad.Test/B_old"]
        code, out, _ = self.tell(tests=tests)
        self.assertEqual((code, self.words(out, "Two", "blue")), (0, ["1+2", "-"]))
        code, out, _ = self.tell({"two.again.Bad.Test/B_old": "fail"}, tests=tests)
        self.assertEqual((code, self.words(out, "Two", "blue")), (1, ["1 FAILED", "-"]))
        self.assertIn("no cell: again.Bad.Test/B_old", self.tell(tests=[*TESTS, "again.Bad.Test/B_old"])[1])

    def test_a_failure(self):
        code, out, _ = self.tell({"two.Bad.Test/B_old": "fail"})
        self.assertEqual(code, 1)
        self.assertEqual(self.words(out, "Two", "blue"), ["1 FAILED", "-"])
        self.assertEqual(self.words(out, "One", "blue"), ["1+1", "1+1"])
        self.assertIn("failed: two.Bad.Test/B_old", out)

    def test_a_hole(self):
        for gone in ("Good.Test/B_new", "Bad.Test/B_new"):
            code, out, _ = self.tell(tests=[name for name in TESTS if name != gone])
            self.assertEqual(code, 1)
            self.assertEqual(self.words(out, "One", "blue"), ["1+1", "NOT COVERED"])
            self.assertIn("not covered: one x blue x new has no", out)

    def test_a_sample(self):
        """As of a build with sanitizers: cells may be empty, but no dialect of an engine and no backend."""
        built = {**BUILT, "sample": True}
        tests = [name for name in TESTS if name not in ("Good.Test/B_new", "Bad.Test/B_new", "two.Bad.Test/R_old")]
        code, out, readme = self.tell(tests=tests, built=built, readme=README)
        self.assertEqual((code, readme), (1, README))
        self.assertEqual(self.words(out, "One", "blue"), ["1+1", "0+0"])
        self.assertEqual(self.words(out, "Two", "red"), ["1+0", "-"])
        self.assertIn("0 of a kind says that none of it ran", out)
        self.assertIn("the table is not written", out)
        self.assertEqual(self.tell(tests=tests, built=built)[0], 0)
        self.assertEqual(self.tell({"Good.Test/R_new": "fail"}, tests=tests, built=built)[0], 1)
        self.assertEqual(self.tell({"Good.Test/R_new": "notrun"}, tests=tests, built=built)[0], 1)

    def test_a_hole_in_a_sample(self):
        built = {**BUILT, "sample": True}
        for gone, told in (("two.Bad.", "two x old has no hostile test"), ("Good.Test/._new", "one x new has no conformance test"),
                           ("(two.)?Bad.Test/B", "blue has no hostile test")):
            code, out, _ = self.tell(tests=[name for name in TESTS if not re.match(gone, name)], built=built)
            self.assertEqual(code, 1)
            self.assertIn(f"not covered: {told}", out)

    def test_skipping_covers_nothing(self):
        code, out, _ = self.tell({"Bad.Test/R_new": "notrun"})
        self.assertEqual(code, 1)
        self.assertIn("not covered: one x red x new has no hostile test", out)
        self.assertIn("skipped: Bad.Test/R_new: no tool", out)

    def test_what_did_not_run(self):
        code, out, _ = self.tell({"Red.Only": None})
        self.assertEqual(code, 1)
        self.assertIn("failed: Red.Only: did not run", out)

    def test_a_program_that_runs_nothing(self):
        code, out, _ = self.tell({"Bad.Test/R_old": "empty"})
        self.assertEqual(code, 1)
        self.assertIn("failed: Bad.Test/R_old: its program has no test of this name", out)

    def test_a_test_without_a_cell(self):
        for name in ("New.Test", "Good.Test/X_old", "Good.Test/R_odd"):
            code, out, _ = self.tell(tests=[*TESTS, name])
            self.assertEqual(code, 1)
            self.assertIn(f"no cell: {name}", out)

    def test_a_rule_without_a_test(self):
        code, out, _ = self.tell(table=TABLE + "[[tests]]\nname = 'Gone\\..*'\noutside = 'x'\n")
        self.assertEqual(code, 1)
        self.assertIn(r"no test fits: Gone\..*", out)

    def test_a_test_where_nothing_can_be(self):
        code, out, _ = self.tell({"two.Good.Test/R_new": "fail"}, tests=[*TESTS, "two.Good.Test/R_new"])
        self.assertEqual(code, 1)
        self.assertEqual(self.words(out, "Two", "red"), ["1+1", "1 FAILED"])

    def test_what_is_not_built(self):
        tests = [name for name in TESTS if name[-3:] != "new" and "/B" not in name and name[:4] != "two."]
        built = {"engines": ["one"], "backends": ["red"], "components": False}
        code, out, readme = self.tell(tests=tests, built=built, readme=README)
        self.assertEqual(code, 1)
        self.assertEqual(self.words(out, "One", "red"), ["2+1", "not built"])
        self.assertEqual(self.words(out, "Two", "blue"), ["not built", "-"])
        self.assertEqual(readme, README)
        self.assertIn("the table is not written", out)
        self.assertEqual(self.tell(tests=tests, built=built)[0], 0)

    def test_the_readme(self):
        code, _, readme = self.tell(readme=README)
        self.assertEqual(code, 0)
        self.assertIn("| | One | Two |\n| --- | --- | --- |\n| Red | core, components | core |\n| Blue | core, components | core |\n", readme)
        self.assertIn("Two runs nothing new.", readme)
        self.assertTrue(readme.startswith("before\n") and readme.endswith("\nafter\n"))
        self.assertEqual(self.tell(readme=readme)[2], readme)

    def test_an_engine_that_is_not_built(self):
        """As WasmEdge with sanitizers: its rules need no tests then, and the README is left alone."""
        tests = [name for name in TESTS if name[:4] != "two."]
        table = TABLE + "[[tests]]\nname = 'plugin'\nengine = 'two'\nbackends = ['red']\ndialects = ['old']\n"
        built = {**BUILT, "engines": ["one"]}
        code, out, _ = self.tell(tests=tests, built=built, table=table)
        self.assertEqual(code, 0, out)
        self.assertEqual(self.words(out, "Two", "red"), ["not built", "-"])
        code, out, _ = self.tell(tests=tests, built=built, table=table, flags=["--complete"])
        self.assertEqual(code, 1)
        self.assertIn("not built: two x red x old\n", out)
        code, out, readme = self.tell(tests=tests, built=built, table=table, readme=README)
        self.assertEqual((code, readme), (1, README))
        self.assertIn("the table is not written", out)

    def test_the_readme_of_a_failure_stays(self):
        self.assertEqual(self.tell({"Red.Only": "fail"}, readme=README)[2], README)


class OurTableTest(unittest.TestCase):
    """tests/matrix.toml, and what the README and the tests have of it."""

    def setUp(self):
        self.text = (SOURCE / "tests" / "matrix.toml").read_text()
        self.table = tomllib.loads(self.text)

    def test_the_readme_has_its_rows_and_columns(self):
        readme = (SOURCE / "README.md").read_text()
        inside = readme.split(matrix.BEGIN)[1].split(matrix.END)[0].strip().splitlines()
        rows = [[word.strip() for word in line.strip("|").split("|")] for line in inside if line.startswith("|")]
        self.assertEqual(rows[0], ["", *(of["title"] for of in self.table["engines"].values())])
        self.assertEqual([row[0] for row in rows[2:]], list(self.table["backends"].values()))
        groups = {of["group"] for of in self.table["dialects"].values()}
        for row in rows[2:]:
            self.assertEqual(len(row), len(rows[0]))
            self.assertLessEqual({word for cell in row[1:] for word in cell.split(", ")}, groups | {"–"})
        empty = matrix.Table(self.text, {"engines": [], "backends": [], "components": False})
        for reason in matrix.reasons(empty):
            self.assertIn(reason, "\n".join(inside))

    def test_the_dialects_are_those_of_the_tests(self):
        source = (SOURCE / "tests" / "conformance" / "forms.cc").read_text()
        forms = re.findall(r'^    \{"(\w+)", "', source, re.M)
        self.assertEqual(forms, list(self.table["dialects"]))

    def test_what_is_named_is_there(self):
        for rule in self.table["tests"] + self.table["not_applicable"]:
            self.assertLessEqual(set(rule.get("backends", [])), set(self.table["backends"]), rule)
            self.assertLessEqual(set(rule.get("dialects", [])), set(self.table["dialects"]), rule)
            self.assertLessEqual(set(rule.get("engines", [])) | ({rule["engine"]} if "engine" in rule else set()), set(self.table["engines"]), rule)
        self.assertLessEqual(set(self.table["formats"].values()), set(self.table["backends"]))


if __name__ == "__main__":
    unittest.main()
