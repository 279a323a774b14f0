"""Reads what valgrind --tool=callgrind has written."""

import collections
import re
import subprocess


class Profile:
    """Instructions by function: `calls` and `cost` with all that was called from there; `edges` and `edge_calls` from one function to another.

    A function's name has the file that it was found in before it: "libwasinn.so.0.1.0:main". With --dump-instr=yes `executed` has how
    often each instruction ran, by file and address."""

    def __init__(self, path):
        self.names = {}
        self.calls = collections.Counter()
        self.cost = collections.Counter()
        self.edges = collections.Counter()
        self.edge_calls = collections.Counter()
        self.caller = self.callee = self.object = self.called_object = None
        self.pending = 0  # calls that the next line has the cost of
        self.executed = collections.Counter()
        self.paths = {}  # of files, by their names
        self.address = 0
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                self.read(line.rstrip("\n"))

    def name(self, space, text):
        """"(12) name" the first time, "(12)" later."""
        number, name = re.fullmatch(r"\((\d+)\)(?: (.*))?", text).groups()
        if name is not None:
            self.names[space, number] = name.rsplit("/", 1)[-1] if space == "ob" else name
            if space == "ob":
                self.paths[self.names[space, number]] = name
        return self.names.get((space, number), number)

    def read(self, line):
        key, _, value = line.partition("=")
        if key == "ob":
            self.object = self.name("ob", value)
        elif key == "fn":
            self.caller = f"{self.object}:{self.name('fn', value)}"
        elif key == "cob":
            self.called_object = self.name("ob", value)
        elif key == "cfn":
            self.callee = f"{self.called_object or self.object}:{self.name('fn', value)}"
            self.called_object = None
        elif key == "calls":
            self.pending = int(value.split()[0])
        elif re.match(r"[0-9+*-]", line):
            self.read_cost(line.split()[0], int(line.split()[-1]))

    def read_cost(self, position, cost):
        """A position is "0x1f20", or "+4" and "-4" from the last one, or "*" if it is the same."""
        if position != "*":
            self.address = int(position, 16) if position.startswith("0x") else self.address + int(position)
        if not self.pending:
            self.executed[self.object, self.address] += cost
        else:
            self.calls[self.callee] += self.pending
            self.cost[self.callee] += cost
            self.edges[self.caller, self.callee] += cost
            self.edge_calls[self.caller, self.callee] += self.pending
            self.pending = 0

    def count(self, file, pattern, least):
        """How often the instructions of a file ran that the pattern matches, of those that ran `least` times."""
        listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", self.paths[file]], check=True, capture_output=True, text=True).stdout
        found = re.findall(rf"^ *([0-9a-f]+):\t(?:{pattern})", listing, re.MULTILINE)
        runs = [self.executed[file, int(address, 16)] for address in found]
        return sum(n for n in runs if n >= least)

    def find(self, *parts):
        """The functions whose names have all parts."""
        found = [name for name in self.cost if all(part in name for part in parts)]
        if not found:
            raise LookupError(f"no function is named {parts}")
        return found
