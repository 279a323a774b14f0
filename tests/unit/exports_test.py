"""The library's headers declare the functions that it exports.

LIBRARY is the library, NM the program that lists its exports, WASINN_SOURCE the source tree."""

import os
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ["WASINN_SOURCE"])
HEADERS = ("wasinn.h", "engine.h", "wit.h")  # the others declare what adapters and backends have


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def declared():
    """The functions of the headers: name to whether it is marked as exported."""
    functions = {}
    for header in HEADERS:
        text = without_comments((SOURCE / "include/wasinn" / header).read_text(encoding="utf-8"))
        # A type of a function begins with typedef, and a pointer to one in a struct with a space.
        for words, name in re.findall(r"^(?!typedef\b|#)(\w[\w\s*]*?)\b(\w+)\([^;{]*\)\s*;", text, re.MULTILINE):
            functions[name] = words.split()[0] == "WASINN_API"
    return functions


def node():
    """The node of the version script."""
    text = without_comments((SOURCE / "src/api/wasinn.map").read_text(encoding="utf-8"))
    return re.fullmatch(r"\s*(\S+) \{.*\};\s*", text, re.DOTALL).group(1)


def exported():
    """Each symbol of the library, with its version."""
    done = subprocess.run([os.environ["NM"], "--dynamic", "--defined-only", os.environ["LIBRARY"]], capture_output=True, text=True, check=True)
    symbols = [line.split()[-2:] for line in done.stdout.splitlines()]
    return [name for kind, name in symbols if kind != "A"]  # A: the version itself


class ExportsTest(unittest.TestCase):
    maxDiff = None

    def test_what_is_declared_is_exported_and_nothing_else(self):
        functions = declared()
        self.assertGreater(len(functions), 30)
        self.assertEqual([name for name, marked in functions.items() if not marked], [])
        self.assertEqual(sorted(exported()), sorted(f"{name}@@{node()}" for name in functions))

    def test_every_field_of_an_options_struct_has_one_of_its_name_in_cpp(self):
        texts = {name: (SOURCE / "include/wasinn" / name).read_text(encoding="utf-8") for name in ("wasinn.h", "options.hpp", "wasinn.hpp")}
        structs = dict(re.findall(r"typedef struct (\w+) \{(.*?)\n\} \1;", without_comments(texts["wasinn.h"]), re.DOTALL))
        cpp = dict(re.findall(r"^struct (\w+) (?:: wasinn_\w+ )?\{(.*?)^\};", texts["options.hpp"] + texts["wasinn.hpp"], re.MULTILINE | re.DOTALL))
        pairs = {
            "wasinn_policy": "Policy", "wasinn_batching": "Batching", "wasinn_step": "Step", "wasinn_model_options": "ModelOptions",
            "wasinn_guest_options": "GuestOptions", "wasinn_model_info": "ModelInfo", "wasinn_backend_report": "BackendReport",
        }  # fmt: skip
        for c_name, name in pairs.items():
            fields = re.findall(r"\b(\w+)(?:\)\([^;]*)?(?=[,;])", structs[c_name])
            missing = [
                field
                for field in fields
                if field not in ("struct_size", "print_user", "print") and not field.startswith("n_") and not re.search(rf"\b{field}\b", cpp[name])
            ]
            with self.subTest(c_name):
                self.assertGreater(len(fields), 3)
                self.assertEqual(missing, [])

    def test_the_version_is_that_of_the_headers(self):
        types = (SOURCE / "include/wasinn/types.h").read_text(encoding="utf-8")
        major, minor = re.search(r'^#define WASINN_VERSION "(\d+)\.(\d+)\.', types, re.MULTILINE).groups()
        self.assertEqual(node(), f"WASINN_{major}.{minor}")
