"""usage: matrix.py [--complete] [--write-readme README] TABLE BUILT TESTS RESULTS: what conformance and hostile tests say of engine x backend x dialect.

TABLE is tests/matrix.toml; BUILT is what CMake says is in this build (matrix.json); TESTS is `ctest --show-only=json-v1`, the tests that
there are; RESULTS is ctest's JUnit file. Prints a table for each engine and what is wrong; the exit status is 1 if anything is:
a failed test, a test that did not run or that no rule of TABLE gives a cell, a cell without both kinds of tests and without a
reason. Of a build that says it runs a sample, cells may lack tests, and the table says so; each dialect of an engine, and each
backend, has some of both kinds. With --complete, something that is not built is wrong, too. --write-readme writes the table between
the marks of that file, if nothing is wrong and everything is built.
"""

import argparse
import collections
import json
import pathlib
import re
import sys
import tomllib

import marks
import report

BEGIN, END = "<!-- matrix: written by scripts/conformance.sh --write-readme -->", "<!-- end of the matrix -->"
KINDS = ("conformance", "hostile")


class Table:
    """tests/matrix.toml, with what is in this build."""

    def __init__(self, text, built):
        table = tomllib.loads(text)
        self.engines, self.backends, self.dialects = table["engines"], table["backends"], table["dialects"]
        self.formats, self.rules = table["formats"], table["tests"]
        self.excluded = table.get("not_applicable", [])
        self.built = built
        for rule in self.rules:
            rule["pattern"] = re.compile(rule["name"])
            rule["fits"] = 0

    def cells(self):
        return ((e, b, d) for e in self.engines for b in self.backends for d in self.dialects)

    def reason(self, cell):
        """Why this cell cannot be; "" if it can."""
        for rule in self.excluded:
            if all(word in rule.get(axis, [word]) for axis, word in zip(("engines", "backends", "dialects"), cell)):
                return rule["reason"]
        return ""

    def is_built(self, cell):
        engine, backend, dialect = cell
        return (engine in self.built["engines"] and backend in self.built["backends"]
                and (self.dialects[dialect]["group"] != "components" or self.built["components"]))

    def all_built(self):
        return all(self.is_built(cell) for cell in self.cells() if not self.reason(cell))

    def place(self, name):
        """(cells, kind) of the test of this name; cells may be none by a rule's word. None: no rule fits."""
        engine = next((e for e, of in self.engines.items() if of["prefix"] and name.startswith(of["prefix"])), None)
        bare = name[len(self.engines[engine]["prefix"]):] if engine else name
        for variant in self.engines[engine].get("variants", []) if engine else []:
            bare = bare.removeprefix(variant)
        usual = next(e for e, of in self.engines.items() if not of["prefix"])
        for rule in self.rules:
            fit = rule["pattern"].fullmatch(bare)
            if not fit:
                continue
            rule["fits"] += 1
            said = fit.groupdict()
            backends, dialects = rule.get("backends", []), rule.get("dialects", [])
            if said.get("format"):
                backends = [self.formats[said["format"]]] if said["format"] in self.formats else []
            if said.get("backend"):
                backends = [said["backend"]]
            if said.get("dialect"):
                dialects = [said["dialect"]]
            known = set(backends) <= set(self.backends) and set(dialects) <= set(self.dialects)
            if not rule.get("outside") and not (backends and dialects and known):
                return None
            cells = [(engine or rule.get("engine", usual), b, d) for b in backends for d in dialects]
            return cells, KINDS[rule.get("hostile", False)]
        return None


class Matrix:
    def __init__(self, table, tests, results, complete=False):
        self.sample = bool(table.built.get("sample"))
        self.table, self.counts, self.wrong, self.skips = table, collections.defaultdict(collections.Counter), [], []
        results = {name: (outcome, why) for name, outcome, why in results}
        for name in tests:
            outcome, why = results.get(name, ("failed", "did not run"))
            if outcome == "passed" and "\n[==========] Running 0 tests" in "\n" + why:
                outcome, why = "failed", "its program has no test of this name"
            place = table.place(name)
            if place is None:
                self.wrong.append(f"no cell: {name}: tests/matrix.toml has no rule for it")
                continue
            if outcome == "failed":
                self.wrong.append(f"failed: {name}" + (f": {why}" if "\n" not in why else ""))
            elif outcome == "skipped":
                self.skips.append(f"{name}: {why}")
            for cell in place[0]:
                self.counts[cell][outcome, place[1]] += 1
        self.check_cells(complete)

    def check_cells(self, complete):
        for cell in self.table.cells():
            if self.table.reason(cell):
                continue
            if not self.table.is_built(cell):
                if complete:
                    self.wrong.append(f"not built: {' x '.join(cell)}")
                continue
            if not self.sample:
                self.check_kinds(" x ".join(cell), [cell])
        if self.sample:
            self.check_sample()
        if self.table.all_built():
            self.wrong += [f"no test fits: {r['name']}" for r in self.table.rules if not r["fits"]]

    def check_sample(self):
        """A sample may leave cells out, but no dialect of an engine and no backend."""
        cells = [cell for cell in self.table.cells() if self.table.is_built(cell) and not self.table.reason(cell)]
        for what in (lambda engine, backend, dialect: f"{engine} x {dialect}", lambda engine, backend, dialect: backend):
            for name in dict.fromkeys(what(*cell) for cell in cells):
                self.check_kinds(name, [cell for cell in cells if what(*cell) == name])

    def check_kinds(self, name, cells):
        for kind in KINDS:
            if not any(self.counts[cell][outcome, kind] for cell in cells for outcome in ("passed", "failed")):
                self.wrong.append(f"not covered: {name} has no {kind} test")

    def failed(self, cell):
        return sum(self.counts[cell]["failed", kind] for kind in KINDS)

    def covered(self, cell):
        return all(self.counts[cell]["passed", kind] for kind in KINDS) and not self.failed(cell)

    def word(self, cell):
        if self.failed(cell):
            return f"{self.failed(cell)} FAILED"
        if self.table.reason(cell):
            return "-"
        if not self.table.is_built(cell):
            return "not built"
        counts = "+".join(str(self.counts[cell]["passed", kind]) for kind in KINDS)
        return counts if self.sample or self.covered(cell) else "NOT COVERED"

    def text(self):
        table, lines = self.table, ["passed: conformance+hostile; -: not applicable"]
        if self.sample:
            lines += ["a sample: 0 of a kind says that none of it ran, and nothing else"]
        for engine, of in table.engines.items():
            rows = [[of["title"], *table.dialects]]
            rows += [[backend, *(self.word((engine, backend, d)) for d in table.dialects)] for backend in table.backends]
            widths = [max(map(len, column)) for column in zip(*rows)]
            lines += ["", *("  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip() for row in rows)]
        lines += ["", *(f"not applicable: {reason}" for reason in reasons(table))]
        lines += [f"skipped: {skip}" for skip in self.skips]
        lines += self.wrong
        return "\n".join(lines)

    def markdown(self):
        """A row for each backend, a column for each engine; dialects by their groups."""
        table, groups = self.table, {}
        for dialect, of in table.dialects.items():
            groups.setdefault(of["group"], []).append(dialect)

        def word(engine, backend):
            words = []
            for group, dialects in groups.items():
                cells = [(engine, backend, d) for d in dialects if not table.reason((engine, backend, d))]
                if cells and all(map(self.covered, cells)):
                    words.append(group)
            return ", ".join(words) or "–"

        lines = ["| | " + " | ".join(of["title"] for of in table.engines.values()) + " |"]
        lines += ["| --- " * (len(table.engines) + 1) + "|"]
        lines += [f"| {title} | " + " | ".join(word(e, b) for e in table.engines) + " |" for b, title in table.backends.items()]
        lines += [""]
        for group, dialects in groups.items():
            lines += [f"{group[0].upper()}{group[1:]}: " + ", ".join(table.dialects[d]["title"] for d in dialects) + ".  "]
        lines += ["; ".join(reasons(table)) + "."]
        return "\n".join(lines)


def reasons(table):
    return list(dict.fromkeys(rule["reason"] for rule in table.excluded))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--complete", action="store_true")
    parser.add_argument("--write-readme", type=pathlib.Path)
    for name in ("table", "built", "tests", "results"):
        parser.add_argument(name, type=pathlib.Path)
    args = parser.parse_args()
    table = Table(args.table.read_text(), json.loads(args.built.read_text()))
    tests = [test["name"] for test in json.loads(args.tests.read_text())["tests"]]
    matrix = Matrix(table, tests, report.cases_of(args.results), args.complete)
    print(matrix.text())
    if args.write_readme and not matrix.wrong:
        if not table.all_built() or matrix.sample:
            print("an engine or a backend is not built, or components, or only a sample ran: the table is not written")
            return 1
        args.write_readme.write_text(marks.between_marks(args.write_readme.read_text(), BEGIN, END, matrix.markdown()))
    print("the matrix is whole" if not matrix.wrong else f"{len(matrix.wrong)} wrong")
    return 1 if matrix.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
