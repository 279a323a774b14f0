"""Words that made readers of pages, comments and messages stop, each with a plain one, do not come back."""
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Everywhere.
WORDS = [
    (r"\bunless told\b", "by default"),
    (r"\banew\b", "again, new"),
    (r"\b(for|by|to|with|from) who(ever)?\b", "for callers that …"),
    (r"(^|[.:;] )Who(ever)? (has|is|asks|names|sends|waits|comes|needs|knows|reads|writes|uses|holds|fails|makes)\b",
     "a noun: the caller, a client that …"),
    (r"\balso (if|while|when|where)\b", "even if"),
]
# In comments.
FRAGMENTS = [
    (r"^(What|Of|Whoever) ", "a noun as the subject"),
    (r"\b(Throws|NULL|Nothing|Empty|[A-Z]{4,}_[A-Z_]+) where\b", "if"),
    (r"\bof what follows\b", "guards the members below"),
]
SOURCES = ["include/*.hpp", "src/*.h", "src/*.cc", "src/*.rs", "backends/*.h", "backends/*.cc", "tests/*.h",
           "tests/*.cc"]
# In code, also in its names.
NAMES = [(r"(?:\b|_)(told|tells)(?:\b|_)", "report, print, return; result, row")]
FOLDERS = ["backends", "bench", "cmake", "examples", "fuzz", "guest", "include", "packaging", "scripts", "src", "tests"]
CODE = [*(f"{folder}/*.{ending}" for folder in FOLDERS for ending in "cc h hpp c py sh rs go js ts cmake toml".split()),
        "*CMakeLists.txt"]


def tracked(*patterns):
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--", *patterns], capture_output=True, text=True,
                            check=True)
    return [name for name in listed.stdout.split("\0") if (ROOT / name).is_file()]


def comments(text):
    """The lines at which comments begin, and their text, on one line."""
    for block in re.finditer(r"(?m)(?:^[ \t]*//.*\n)+|[^\n:\"]//(?!/)[^\n\"]*$", text):
        words = re.sub(r"(?m)^[ \t]*//[/!]? ?|^.//", "", block.group(0))
        yield text.count("\n", 0, block.start()) + 1, " ".join(words.split())


class English(unittest.TestCase):
    def check(self, found):
        self.assertEqual([], found, "\n" + "\n".join(found))

    def test_pages_and_sources_have_no_word_that_has_a_plain_one(self):
        found = []
        for name in tracked("*.md", "include/*.h", *SOURCES):
            for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1):
                line = re.sub(r"^\s*(//[/!]?|\*|-|\|) ?", "", line)
                found += [f"{name}:{number}: '{match.group(0)}': {instead}" for pattern, instead in WORDS
                          for match in re.finditer(pattern, line)]
        self.check(found)

    def test_code_has_no_such_word_either(self):
        found = []
        for name in tracked(*CODE, ":!tests/docs/english_test.py"):
            text = (ROOT / name).read_text(encoding="utf-8")
            for pattern, instead in WORDS + NAMES:
                found += [f"{name}:{text.count(chr(10), 0, match.start()) + 1}: '{match.group(0)}': {instead}"
                          for match in re.finditer(pattern, text, re.MULTILINE)]
        self.check(found)

    def test_comments_are_sentences(self):
        found = []
        for name in tracked(*SOURCES):
            for number, text in comments((ROOT / name).read_text(encoding="utf-8")):
                found += [f"{name}:{number}: '{match.group(0)}': {instead}" for pattern, instead in FRAGMENTS
                          for match in re.finditer(pattern, text)]
        self.check(found)


if __name__ == "__main__":
    unittest.main()
