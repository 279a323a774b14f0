"""The crate wasinn-sys declares what the headers declare: a compiler of C reads its declarations after theirs."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CRATE = ROOT / "rust" / "wasinn-sys" / "src"
BASE = {"c_char": "char", "c_void": "void", "u8": "uint8_t", "u32": "uint32_t", "i32": "int32_t", "u64": "uint64_t", "usize": "size_t", "bool": "bool"}
FUNCTION = r'(?:unsafe )?extern "C" fn'


def split(text):
    """At commas that are in no parentheses."""
    parts, depth = [""], 0
    for c in text:
        depth += {"(": 1, "<": 1, ")": -1, ">": -1}.get(c, 0)
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


class Crate:
    def __init__(self):
        text = "\n".join(path.read_text() for path in sorted(CRATE.glob("*.rs")))
        text = re.sub(r"//.*", "", text).replace("->", "@")  # so that each > closes a <
        self.text = re.sub(r"\s+", " ", text)
        self.aliases = dict(re.findall(r"type (\w+) = ([^;]*);", self.text))
        self.constants = re.findall(r"pub const (\w+): \w+ = (\w+);", self.text)
        self.structs = {name: split(body) for name, body in re.findall(r"pub struct (\w+) \{([^}]*)\}", self.text) if "_opaque" not in body}
        self.functions = re.findall(r"pub fn (\w+)\((.*?)\)(?: @ ([^;]*))?;", self.text)

    def c(self, type_, name, const=False):
        """A declaration in C."""
        name = ("const " if const else "") + name
        if type_.startswith("Option<"):
            return self.c(type_[len("Option<") : -1], name)
        if type_ in self.aliases and not type_.startswith("wasinn_"):
            return self.c(self.aliases[type_], name)
        if pointer := re.match(r"\*(const|mut) (.*)", type_):
            return self.c(pointer[2], "*" + name, pointer[1] == "const")
        if re.match(FUNCTION, type_):
            params, result = re.match(FUNCTION + r"\((.*)\)(?: @ (.*))?$", type_).groups()
            return self.function(f"(*{name})", params, result)
        return f"{BASE.get(type_, type_)} {name}"

    def function(self, name, params, result):
        params = ", ".join(self.c(param.split(": ", 1)[1], "") for param in split(params))
        return self.c(result or "c_void", f"{name}({params or 'void'})")

    def program(self):
        lines = ["#include <wasinn/engine.h>", "#include <wasinn/wit.h>"]
        lines += [f"_Static_assert({name} == {value}, \"\");" for name, value in self.constants]
        for name, fields in self.structs.items():
            fields = [field.removeprefix("pub ").split(": ", 1) for field in fields]
            lines.append(f"struct rust_{name} {{ {' '.join(self.c(type_, field) + ';' for field, type_ in fields)} }};")
            grows = fields[0][0] == "struct_size"
            lines.append(f"_Static_assert(sizeof(struct rust_{name}) {'<=' if grows else '=='} sizeof({name}), \"{name}\");")
            for field, _ in fields:
                ours, theirs = f"struct rust_{name}", name
                lines.append(f"_Static_assert(offsetof({ours}, {field}) == offsetof({theirs}, {field}), \"{name}.{field}\");")
                types = ", ".join(f"__typeof__((({type_}*)0)->{field})" for type_ in (ours, theirs))
                lines.append(f"_Static_assert(__builtin_types_compatible_p({types}), \"{name}.{field}\");")
        lines += [self.function(*function) + ";" for function in self.functions]
        return "\n".join(lines) + "\n"


def compile_(program):
    """The compiler's errors."""
    with tempfile.TemporaryDirectory(prefix="wasinn-headers-") as folder:
        file = pathlib.Path(folder) / "declarations.c"
        file.write_text(program)
        command = [os.environ["CC"], "-std=c11", "-fsyntax-only", f"-I{ROOT / 'include'}", file]
        return subprocess.run(command, capture_output=True, text=True).stderr


class HeadersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.crate = Crate()
        cls.program = cls.crate.program()

    def test_the_declarations_are_those_of_the_headers(self):
        self.assertGreater(len(self.crate.constants), 30)
        self.assertGreater(len(self.crate.structs), 15)
        self.assertGreater(len(self.crate.functions), 25)
        errors = compile_(self.program)
        self.assertFalse(errors, errors)

    def test_a_wrong_declaration_is_found(self):
        for right, wrong in (
            ("WASINN_ERROR_LOST == 16", "WASINN_ERROR_LOST == 17"),
            ("uint32_t max_contexts;", "uint64_t max_contexts;"),
            ("char const *path;", "char *path;"),
            ("void wasinn_guest_close(wasinn_guest *)", "void wasinn_guest_close(wasinn_host *)"),
            ("(*tensor_drop)(wasinn_guest *, uint32_t )", "(*tensor_drop)(wasinn_guest *, size_t )"),
        ):
            with self.subTest(wrong):
                self.assertEqual(self.program.count(right), 1)
                self.assertIn("error", compile_(self.program.replace(right, wrong)))
