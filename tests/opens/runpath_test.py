"""No program or library has the dynamic linker look in the working folder: a guest may be able to write there."""

import os
import pathlib
import re
import unittest

import elf

FRAMEWORKS = [pathlib.Path(folder) for folder in os.environ["FRAMEWORK_FOLDERS"].split(":") if folder]


def wrong_parts(path):
    """Parts of its RUNPATH, and names of libraries, that start at the working folder."""
    wrong = []
    for kind, value in re.findall(r"\((RPATH|RUNPATH|NEEDED)\).*\[(.*)\]", elf.readelf(path, "--dynamic")):
        parts = value.split(":") if kind != "NEEDED" else [value] if "/" in value else []
        wrong += [f"{kind} '{value}'" for part in parts if not part.startswith(("/", "$ORIGIN"))]
    return wrong


class RunpathTest(unittest.TestCase):
    def check(self, files):
        found = {str(path): wrong for path in files if (wrong := wrong_parts(path))}
        self.assertEqual(found, {})
        return [path.name for path in files]

    def test_what_we_build(self):
        names = self.check(elf.built())
        self.assertIn("wasinn", names)
        self.assertIn("libwasinn_backend_onnx.so", names)

    def test_frameworks(self):
        for folder in FRAMEWORKS:
            with self.subTest(folder=folder.name):
                self.assertTrue(self.check([path for path in folder.glob("*.so*") if elf.is_elf(path)]))
