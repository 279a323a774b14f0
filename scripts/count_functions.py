#!/usr/bin/env python3
"""Counts our functions on the path of one inference, from the guest's call to the backend's table.

usage: scripts/count_functions.py [--list]     after scripts/test.sh --core, whose build inlines nothing

A function counts if nearly each of 100 inferences (a test of unit_tests, on the echo backend) calls it from set_input,
compute or get_output, and it belongs to the core or the ABIs. Constructors, destructors, operators and accessors (names
in lower case) do not count. Lambdas are a part of the function that they are in."""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/bench"))
from callgrind import Profile  # noqa: E402

INFERENCES = 100
TEST = "Counts.EachInferenceCopiesItsInputAndItsOutputOnce"


def profile():
    with tempfile.TemporaryDirectory(prefix="wasinn-callgrind-") as folder:
        out = pathlib.Path(folder) / "callgrind.out"
        tests = ROOT / "build/core/bin/unit_tests"
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", tests, f"--gtest_filter={TEST}"],
                       check=True, capture_output=True)
        return Profile(out)


def short(function):
    """The name without the file, template arguments and parameters."""
    name = re.sub(r"\(anonymous namespace\)::|\[[^\]]*\]|'\d+$", "", function.partition(":")[2])
    while (shorter := re.sub(r"<[^<>]*>", "", name)) != name:
        name = shorter
    return name.partition("(")[0].split(" ")[-1]


def reached(counted, root):
    calls = {}
    for (caller, callee), number in counted.edge_calls.items():
        if number >= INFERENCES - 5:
            calls.setdefault(caller, set()).add(callee)
    found, todo = set(), counted.find(root)
    while todo:
        function = todo.pop()
        if function not in found:
            found.add(function)
            todo += calls.get(function, ())
    names = {short(function) for function in found if "lambda" not in function}
    return {name for name in names if re.match(r"wasinn::(abi|core)::", name) and counts(name)}


def counts(name):
    *_, scope, last = name.split("::")
    return last[0].isupper() and last != scope


def main():
    counted = profile()
    everything = set()
    for function, root in (
        ("set_input", "::SetInput(wasinn::abi::Invocation"),
        ("compute", "::Compute(wasinn::abi::Invocation"),
        ("get_output", "::GetOutput(wasinn::abi::Invocation"),
    ):
        names = reached(counted, root)
        everything |= names
        print(f"{function}: {len(names)}")
        if "--list" in sys.argv:
            print(*(f"  {name}" for name in sorted(names)), sep="\n")
    print(f"one inference: {len(everything)}")


if __name__ == "__main__":
    main()
