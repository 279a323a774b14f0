"""The command `wasinn`, which replaces this process by the program in the package."""

import os
import sys


def main() -> None:
    program = os.path.join(os.path.dirname(os.path.realpath(__file__)), "_prefix", "bin", "wasinn")
    os.execv(program, [program, *sys.argv[1:]])
