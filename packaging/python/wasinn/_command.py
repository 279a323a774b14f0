"""The command `wasinn`: the program in the package, in place of this one."""

import os
import sys


def main() -> None:
    program = os.path.join(os.path.dirname(os.path.realpath(__file__)), "_prefix", "bin", "wasinn")
    os.execv(program, [program, *sys.argv[1:]])
