"""Pages lead to where they say, read alike on GitHub and on the site, and all of them are there."""

import pathlib
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "site"))
import links  # noqa: E402

SENTENCE = "wasinn is a C++ library and command that adds wasi-nn to your Wasm engine, backed by your ML framework."


class LinksTest(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        pages = links.pages()
        self.assertGreater(len(pages), 100)
        self.assertGreater(sum(1 for page in pages for _ in links.links(page)), 300)
        self.assertEqual([fault for page in pages for fault in links.wrong(page)], [])

    def faults(self, text):
        with tempfile.TemporaryDirectory(dir=pathlib.Path(__file__).parent, prefix=".links-") as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text(text, encoding="utf-8")
            return [re.sub(r"^\S+:(\d+): ", r"\1: ", fault) for fault in links.wrong(page)]

    def test_wrong_pages_are_found(self):
        text = "# One\n[a](nowhere.md) [b](#two) [c](../../../docs/concepts.md#nothing) [d](https://example.com/nowhere) `[e](nowhere.md)`\n```\n[f](nowhere.md)\n```\n"
        self.assertEqual([fault.split("; ")[0] for fault in self.faults(text)],
                         ["2: nowhere.md: there is no such file", "2: #two: there is no such heading", "2: ../../../docs/concepts.md#nothing: there is no such heading"])

    def test_headings_are_named_as_on_github(self):
        text = "# With `code` and [a link](https://example.com)\n## Twice\n## Twice\n# Not - this, `x_y`!\n"
        self.assertEqual(self.faults(text + "[1](#with-code-and-a-link) [2](#twice) [3](#twice-1) [4](#not---this-x_y)\n"), [])


class PagesTest(unittest.TestCase):
    def test_the_site_has_every_page(self):
        nav = set(re.findall(r": ([\w/.-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
        pages = {path.relative_to(links.DOCS).as_posix() for path in links.DOCS.rglob("*.md")}
        self.assertEqual({page for page in pages if not page.startswith("decisions/")} - nav, set(), "of mkdocs.yml, nav")

    def test_versions_are_those_that_are_fetched(self):
        rows = re.findall(r"^\| [\w. ]+ \| (\d[^|]*)\|", (links.DOCS / "versions.md").read_text(encoding="utf-8"), re.MULTILINE)
        self.assertEqual(len(rows), 9)
        pins = (ROOT / "scripts" / "manifest.sh").read_text(encoding="utf-8")
        for version in (version for row in rows for version in re.findall(r"\d+(?:\.\d+){2}", row.split(", which")[0])):
            self.assertRegex(pins, rf"(?<![\d.]){re.escape(version)}(?!\.?\d)")

    def test_every_example_is_listed(self):
        page = ROOT / "examples" / "README.md"
        listed = {links.resolve(page, target)[0] for _, target in links.links(page)}
        self.assertEqual(set(page.parent.glob("*/README.md")) - listed, set())

    def test_lists_begin_after_an_empty_line(self):
        # Else Python's Markdown, which the site is made with, takes them for a part of the paragraph.
        for page in links.pages():
            before = ""
            for number, line in links.prose(page.read_text(encoding="utf-8")):
                item = re.match(r"(- |\d+\. )", line)
                self.assertTrue(not item or re.match(r"(- |\d+\. | |#|<!--|$)", before), f"{page}:{number}: {line}")
                before = line

    def test_one_sentence_says_what_it_is(self):
        for page in ("README.md", "docs/index.md", "docs/concepts.md"):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", (ROOT / page).read_text(encoding="utf-8"))
            self.assertEqual(text.splitlines()[2][: len(SENTENCE)], SENTENCE, page)

    def test_drawings_have_words_for_readers_that_do_not_see_them(self):
        for name in ("layers", "lifetimes", "copies"):
            root = xml.etree.ElementTree.parse(links.DOCS / "images" / f"{name}.svg").getroot()
            for child in ("title", "desc"):
                self.assertTrue(root.findtext(f"{{http://www.w3.org/2000/svg}}{child}"), name)


if __name__ == "__main__":
    unittest.main()
