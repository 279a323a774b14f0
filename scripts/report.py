"""usage: report.py RESULTS_DIR: tells what the test steps left there; exit status 1 on any failure, or if no test ran.

Reads NAME.xml (ctest's JUnit), and NAME.passed and NAME.failed, each the output of a check that counts as one test. Prints
failures with their output, skips with their reasons, and last the line "N passed, N failed, N skipped".
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


def cases_of(path):
    """The tests of a JUnit file of ctest's: (name, "passed", "failed" or "skipped", why)."""
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


def read_junit(path, passed, failed, skipped):
    cases = list(cases_of(path))
    if not cases:
        failed.append((path.stem, "no test ran"))
    for name, outcome, why in cases:
        name = f"{path.stem}: {name}"
        if outcome == "passed":
            passed.append(name)
        else:
            {"failed": failed, "skipped": skipped}[outcome].append((name, why))


def main(results):
    passed, failed, skipped = [], [], []
    for path in sorted(results.iterdir()):
        if path.suffix == ".xml":
            read_junit(path, passed, failed, skipped)
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
