"""Checks that the structs and functions of _abi.py are those of the headers."""

import ctypes
import re
import unittest

from surroundings import SOURCE
from wasinn import _abi

HEADERS = "".join((SOURCE / "include/wasinn" / name).read_text() for name in ("types.h", "wasinn.h", "wit.h"))
TEXT = re.sub(r"/\*.*?\*/", "", HEADERS, flags=re.DOTALL)
SIZES = {"uint32_t": 4, "int32_t": 4, "uint64_t": 8, "size_t": 8, "bool": 1}
OTHERS = {
    "Bytes": "wasinn_bytes",
    "WitResult": "wasinn_wit_result",
    "WitView": "wasinn_wit_view",
    "NamedTensor": "wasinn_wit_named_tensor",
}


def fields(struct):
    """(name, bytes) of each field of a C struct, in order."""
    (body,) = re.findall(rf"typedef struct {struct} {{(.*?)\n}} {struct};", TEXT, re.DOTALL)
    found = []
    for line in body.split(";"):
        if pointer := re.match(r"\s*[\w ]+\*?\s*\(\*(\w+)\)\(", line):
            found.append((pointer[1], 8))
        elif words := re.match(r"\s*(?:const )?(\w+)\b(.*)", line, re.DOTALL):
            for name in words[2].replace(" const", "").split(","):
                is_pointer = "*" in words[2]
                found.append((name.strip(" *\n"), 8 if is_pointer else SIZES.get(words[1], 4)))  # else an enum
    return found


class AbiTest(unittest.TestCase):
    def structs(self):
        for name, value in vars(_abi).items():
            if isinstance(value, type) and issubclass(value, _abi.Sized) and value is not _abi.Sized:
                yield value, "wasinn" + re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), name)
            elif name in OTHERS:
                yield value, OTHERS[name]

    def test_structs_begin_as_those_of_the_headers(self):
        count = 0
        for struct, name in self.structs():
            ours = [(field, ctypes.sizeof(kind)) for field, kind in struct._fields_]
            theirs = fields(name)[: len(ours)]
            if name == "wasinn_wit_named_tensor":  # its name has no zero at its end, so it is an address here
                theirs[0] = ("name_address", 8)
            self.assertEqual(ours, theirs, name)
            if not issubclass(struct, _abi.Sized):
                self.assertEqual(len(fields(name)), len(ours), name)
            count += 1
        self.assertGreater(count, 10)

    def test_functions_of_wit_are_in_order(self):
        ours = [name for name, _ in _abi.WitFunctions._fields_]
        self.assertEqual(ours, [name for name, _ in fields("wasinn_wit_functions")][: len(ours)])
        for name, kind in _abi.WitFunctions._fields_[1:]:
            (arguments,) = re.findall(rf"\(\*{name}\)\((.*?)\);", TEXT, re.DOTALL)
            self.assertEqual(len(kind._argtypes_), arguments.count(",") + 1, name)

    def test_functions_take_as_many_arguments(self):
        for name, (_, *takes) in _abi._FUNCTIONS.items():
            (arguments,) = re.findall(rf"\b{name}\((.*?)\);", TEXT, re.DOTALL)
            self.assertEqual(len(takes), 0 if arguments == "void" else arguments.count(",") + 1, name)


if __name__ == "__main__":
    unittest.main()
