"""Pages that are installed lead to what is installed with them."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "site"))
import links  # noqa: E402

SIZE = 4 << 20  # bytes that pages and what they link to may have; a model or a library among them would be a mistake


class InstalledTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        prefix = tempfile.TemporaryDirectory(prefix="wasinn-pages-")
        cls.addClassCleanup(prefix.cleanup)
        command = [os.environ["CMAKE"], "--install", os.environ["WASINN_BUILD"], "--prefix", prefix.name, "--component", "doc"]
        subprocess.run(command, check=True, capture_output=True)
        cls.folder = pathlib.Path(prefix.name).resolve() / "share" / "doc" / "wasinn"

    def test_every_link_leads_somewhere(self):
        pages = sorted(self.folder.rglob("*.md"))
        self.assertGreater(len(pages), 100)
        self.assertGreater(sum(1 for page in pages for _ in links.links(page)), 300)
        self.assertEqual([fault for page in pages for fault in links.wrong(page, self.folder)], [], "of cmake/Documents.cmake")

    def test_nothing_that_was_built_goes_along(self):
        ours = set(subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines())
        files = {path.relative_to(self.folder).as_posix(): path.stat().st_size for path in self.folder.rglob("*") if path.is_file()}
        self.assertEqual(set(files) - ours, set())
        self.assertLess(sum(files.values()), SIZE)


if __name__ == "__main__":
    unittest.main()
