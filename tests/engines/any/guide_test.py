"""docs/engine-guide.md quotes the test engine as it is."""

import os
import pathlib
import re
import unittest

SOURCE = pathlib.Path(os.environ["WASINN_SOURCE"])
GUIDE = (SOURCE / "docs/engine-guide.md").read_text(encoding="utf-8")
EXCERPT = re.compile(r"<!-- (\S+): (\w+) -->\n```cpp\n(.*?)```\n", re.DOTALL)


def parts(path):
    """The parts of a source file, by name: what is between two lines `// [name]`."""
    text = (SOURCE / path).read_text(encoding="utf-8")
    return {name: part for name, part in re.findall(r"^// \[(\w+)\]\n(.*?)^// \[\1\]\n", text, re.DOTALL | re.MULTILINE)}


class GuideTest(unittest.TestCase):
    def test_excerpts_are_the_source(self):
        for path, name, text in EXCERPT.findall(GUIDE):
            with self.subTest(path=path, name=name):
                self.assertEqual(text, parts(path).get(name))

    def test_all_code_is_quoted(self):
        self.assertEqual(len(re.findall("^```cpp$", GUIDE, re.MULTILINE)), len(EXCERPT.findall(GUIDE)))

    def test_all_parts_are_explained(self):
        path = "tests/engines/any/wasm3_guest.cc"
        self.assertEqual({name for file, name, _ in EXCERPT.findall(GUIDE) if file == path}, set(parts(path)))

    def test_about_100_lines(self):
        lines = (SOURCE / "tests/engines/any/wasm3_guest.cc").read_text(encoding="utf-8").splitlines()
        self.assertLess(len(lines), 120)

    def test_links(self):
        for link in re.findall(r"\]\(([^)h][^)]*)\)", GUIDE):
            with self.subTest(link=link):
                self.assertTrue((SOURCE / "docs" / link).exists())
