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


def read_junit(path, passed, failed, skipped):
    cases = list(xml.parse(path).getroot().iter("testcase"))
    if not cases:
        failed.append((path.stem, "no test ran"))
    for case in cases:
        name = f"{path.stem}: {case.get('name')}"
        output = case.findtext("system-out") or ""
        skip = case.find("skipped")
        message = "disabled" if skip is None else skip.get("message") or ""
        if case.get("status") == "run":
            passed.append(name)
        elif case.get("status") == "disabled" or message.startswith("SKIP_"):
            skipped.append((name, skip_reason(message, output)))
        else:  # "fail", and "notrun" for any other reason, such as a missing program
            why = f"{message}\n" if skip is not None else ""
            failed.append((name, why + output.rstrip() + f"\nran {float(case.get('time') or 0):.1f} s"))


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


sys.exit(main(pathlib.Path(sys.argv[1])))
