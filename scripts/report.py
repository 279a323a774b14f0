"""usage: report.py RESULTS_DIR: tells what the test steps left there; exit status 1 on any failure, or if no test ran.

Reads NAME.xml (ctest's JUnit), and NAME.passed and NAME.failed, each the output of a check that counts as one test. Prints
failures with their output, skips with their reasons, and last the line "N passed, N failed, N skipped". A test of ctest's that ran
many of GoogleTest counts as these. A skip that tests/skips.txt does not list is a failure, and so is one within a test in Python.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree as xml

OUTPUT_MAX = 8000  # characters of one failure's output, from its end


def skip_reason(message, output):
    """ctest says only that a test skipped itself; GoogleTest writes why below "FILE:LINE: Skipped"."""
    said = re.findall(r": Skipped\n(.*?)\n(?=\[|\n|$)", output, re.S)
    said = said or re.findall(r"^(?:SKIP(?:PED)?|skip(?:ped)?): *(.*)$", output, re.M)
    return "; ".join(" ".join(s.split()) for s in dict.fromkeys(said)) or message


GTEST_END = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+?)(?:, where .*)? \(\d+ ms\)$", re.M)
GTEST_OUTCOMES = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}


def inner_cases(name, outcome, output):
    """Those of the tests that GoogleTest ran in one process, if it was more than the one of this name (which may run itself again)."""
    ends = list(GTEST_END.finditer(output))
    if len(ends) < 2 or all(name.endswith(end[2]) for end in ends):
        return [(name, outcome, output)]
    cases, begin = [], 0
    for end in ends:
        how, text = GTEST_OUTCOMES[end[1]], output[begin : end.end()]
        cases.append((end[2], how, skip_reason("", text) if how == "skipped" else text))
        begin = end.end()
    told = re.search(r"^\[=+\] (\d+) tests? from .* ran\.", output[begin:], re.M)
    if not told or int(told[1]) != len(cases):
        cases.append((name, "failed", f"its output ends after {len(cases)} tests\n" + output[begin:]))
    elif outcome == "failed" and all(how != "failed" for _, how, _ in cases):  # as by a sanitizer, at the end
        cases.append((name, "failed", output[begin:]))
    return cases


def cases_of(path):
    """The tests of a JUnit file of ctest's: (name, "passed", "failed" or "skipped", why)."""
    for name, outcome, why in ctest_cases(path):
        if outcome == "skipped":
            yield name, outcome, why
        elif outcome == "passed" and re.search(r"^OK \(.*skipped=", why, re.M):
            yield name, "failed", "a test in Python skipped some of itself; what a build has not shall be no test of it\n" + why
        else:
            yield from inner_cases(name, outcome, why)


def ctest_cases(path):
    for case in xml.parse(path).getroot().iter("testcase"):
        output = case.findtext("system-out") or ""
        skip = case.find("skipped")
        message = "disabled" if skip is None else skip.get("message") or ""
        if case.get("status") == "run":
            yield case.get("name"), "passed", output
        elif case.get("status") == "disabled" or message.startswith("SKIP_"):
            yield case.get("name"), "skipped", skip_reason(message, output)
        else:  # "fail", and "notrun" for any other reason, such as a missing program
            why = f"{message}\n" if skip is not None else ""
            yield case.get("name"), "failed", why + output.rstrip() + f"\nran {float(case.get('time') or 0):.1f} s"


class Skips:
    """tests/skips.txt."""

    def __init__(self, text):
        lines = [line.split(" | ", 1) for line in text.splitlines() if line and not line.startswith("#")]
        self.listed = [(re.compile(name.strip()), re.compile(reason.strip())) for name, reason in lines]

    def has(self, name, why):
        return any(names.fullmatch(name) and reason.search(why) for names, reason in self.listed)


def read_junit(path, skips, passed, failed, skipped):
    cases = list(cases_of(path))
    if not cases:
        failed.append((path.stem, "no test ran"))
    for name, outcome, why in cases:
        name = f"{path.stem}: {name}"
        if outcome == "passed":
            passed.append(name)
        elif outcome == "skipped" and not skips.has(name, why):
            failed.append((name, f"skipped, which tests/skips.txt does not list: {why}"))
        else:
            {"failed": failed, "skipped": skipped}[outcome].append((name, why))


def main(results):
    passed, failed, skipped = [], [], []
    skips = Skips((pathlib.Path(__file__).resolve().parent.parent / "tests/skips.txt").read_text())
    for path in sorted(results.iterdir()):
        if path.suffix == ".xml":
            read_junit(path, skips, passed, failed, skipped)
        elif path.suffix == ".passed":
            passed.append(path.stem)
        elif path.suffix == ".failed":
            failed.append((path.stem, path.read_text(errors="replace").strip()))
    for name, output in failed:
        print(f"\nFAILED  {name}")
        print("".join(f"    {line}\n" for line in output[-OUTPUT_MAX:].splitlines()), end="")
    for name, reason in skipped:
        print(f"skipped {name}: {reason}")
    print(f"{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
