"""usage: report.py RESULTS_DIR: reports the results of the test steps; exit status 1 on any failure, or if no test ran.

Reads NAME.xml (ctest's JUnit), NAME-again.xml with the second runs of the tests that failed, and NAME.passed and
NAME.failed, each the output of a check that counts as one test. Prints failures with their output, skips with their
reasons, "flaked NAME" for tests that failed and then passed, and at last the line "N passed, N failed, N skipped". A
test of ctest that runs many tests of GoogleTest counts as these. Tests that flaked count as passed; more than
FLAKED_MAX of them are a failure. A skip that tests/skips.txt does not list is a failure, and so is one within a test in
Python."""

import pathlib
import re
import sys
import xml.etree.ElementTree as xml

OUTPUT_MAX = 8000  # characters of one failure's output, from its end
FLAKED_MAX = 3


def skip_reason(message, output):
    """ctest only reports that a test skipped itself; GoogleTest writes why below "FILE:LINE: Skipped"."""
    said = re.findall(r": Skipped\n(.*?)\n(?=\[|\n|$)", output, re.S)
    said = said or re.findall(r"^(?:SKIP(?:PED)?|skip(?:ped)?): *(.*)$", output, re.M)
    return "; ".join(" ".join(s.split()) for s in dict.fromkeys(said)) or message


GTEST_END = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+?)(?:, where .*)? \(\d+ ms\)$", re.M)
GTEST_OUTCOMES = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}


def inner_cases(name, outcome, output):
    """The cases that GoogleTest ran in one process, if there were more than the one of this name. A test that runs
    itself again ends twice."""
    ends = list({end[2]: end for end in GTEST_END.finditer(output)}.values())
    if len(ends) < 2:
        return [(name, outcome, output)]
    cases, begin = [], 0
    for end in ends:
        how, text = GTEST_OUTCOMES[end[1]], output[begin : end.end()]
        cases.append((f"{name} {end[2]}", how, skip_reason("", text) if how == "skipped" else text))
        begin = end.end()
    printed = re.search(r"^\[=+\] (\d+) tests? from .* ran\.", output[begin:], re.M)
    if not printed or int(printed[1]) != len(cases):
        cases.append((name, "failed", f"its output ends after {len(cases)} tests\n" + output[begin:]))
    elif outcome == "failed" and all(how != "failed" for _, how, _ in cases):  # such as by a sanitizer, at the end
        cases.append((name, "failed", output[begin:]))
    return cases


def cases_of(path):
    """The tests of a JUnit file of ctest: (name, "passed", "failed" or "skipped", why)."""
    for name, outcome, why in ctest_cases(path):
        if outcome == "skipped":
            yield name, outcome, why
        elif outcome == "passed" and re.search(r"^OK \(.*skipped=", why, re.M):
            lacks = "a test in Python skipped some of itself; a build must not have tests of what it lacks"
            yield name, "failed", f"{lacks}\n{why}"
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


def failures_of(path):
    """The names in a JUnit file of ctest that failed, and the tests of ctest that ran."""
    failed = {name for name, outcome, _ in cases_of(path) if outcome == "failed"}
    return failed, {name for name, outcome, _ in ctest_cases(path) if outcome != "skipped"}


def read_junit(path, skips, passed, failed, skipped, flaked):
    cases = list(cases_of(path))
    if not cases:
        failed.append((path.stem, "no test ran"))
    again = path.with_name(f"{path.stem}-again.xml")
    failed_again, ran_again = failures_of(again) if again.exists() else (set(), set())
    for name, outcome, why in cases:
        test = name.split(" ")[0]
        name_and_build = f"{path.stem}: {name}"
        # If a process ended early again, nobody knows which of its tests would have passed.
        if outcome == "failed" and test in ran_again and not failed_again & {name, test}:
            flaked.append(name_and_build)
            passed.append(name_and_build)
        elif outcome == "passed":
            passed.append(name_and_build)
        elif outcome == "skipped" and not skips.has(f"{path.stem}: {name.split(' ')[-1]}", why):
            failed.append((name_and_build, f"skipped, which tests/skips.txt does not list: {why}"))
        else:
            {"failed": failed, "skipped": skipped}[outcome].append((name_and_build, why))


def main(results):
    passed, failed, skipped, flaked = [], [], [], []
    skips = Skips((pathlib.Path(__file__).resolve().parent.parent / "tests/skips.txt").read_text())
    for path in sorted(results.iterdir()):
        if path.suffix == ".xml" and not path.stem.endswith("-again"):
            read_junit(path, skips, passed, failed, skipped, flaked)
        elif path.suffix == ".passed":
            passed.append(path.stem)
        elif path.suffix == ".failed":
            failed.append((path.stem, path.read_text(errors="replace").strip()))
    if len(flaked) > FLAKED_MAX:
        failed.append(("flaked", f"{len(flaked)} tests failed and then passed; {FLAKED_MAX} may"))
    for name, output in failed:
        print(f"\nFAILED  {name}")
        print("".join(f"    {line}\n" for line in output[-OUTPUT_MAX:].splitlines()), end="")
    for name in flaked:
        print(f"flaked {name}")
    for name, reason in skipped:
        print(f"skipped {name}: {reason}")
    print(f"{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
