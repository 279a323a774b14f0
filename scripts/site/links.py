"""Links of pages in Markdown to files of this repository and to headings, and their addresses in the site."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SOURCE = "source"  # the folder of the site for files outside of docs

LINK = re.compile(r"(?<=\]\()(?P<target>[^)\s]+)(?=\))")
FENCE = re.compile(r"^\s*(```+|~~~+)")


def pages():
    """All pages of the repository that are meant for readers."""
    patterns = (
        "*.md",
        "docs/**/*.md",
        "models/*.md",
        *(f"{folder}/**/README.md" for folder in ("bench", "examples", "guest", "packaging", "tests")),
    )
    return sorted({path for pattern in patterns for path in ROOT.glob(pattern) if "node_modules" not in path.parts})


def prose(text):
    """Each line with its number, without blocks of code."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        found = FENCE.match(line)
        if found and fence in (None, found[1]):
            fence = None if fence else found[1]
        elif fence is None:
            yield number, line


def slug(heading):
    """The anchor of a heading, as GitHub and the site have it."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", words).strip().lower()).replace(" ", "-")


def anchors(path):
    found = set()
    for _, line in prose(path.read_text(encoding="utf-8")):
        if heading := re.match(r"#+ +(.*)", line):
            name, twice = slug(heading[1]), 0
            while (name if not twice else f"{name}-{twice}") in found:
                twice += 1
            found.add(name if not twice else f"{name}-{twice}")
    return found


def links(path):
    """(line, target) of each link that is no URL."""
    for number, line in prose(path.read_text(encoding="utf-8")):
        for link in LINK.finditer(re.sub(r"`[^`]*`", lambda code: "_" * len(code[0]), line)):
            if not re.match(r"[a-z]+:", link["target"]):
                yield number, link["target"]


def resolve(path, target):
    """The file or folder that a link of a page leads to, and its anchor."""
    name, _, anchor = target.partition("#")
    return ((path.parent / name).resolve() if name else path), anchor


def wrong(path, root=ROOT):
    """The errors in the links of a page of the repository, or of another folder of pages."""
    for number, target in links(path):
        file, anchor = resolve(path, target)
        where = f"{path.relative_to(root)}:{number}: {target}"
        if not file.exists():
            yield f"{where}: there is no such file"
        elif not file.is_relative_to(root):
            yield f"{where}: it is outside of {root.name}"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"{where}: there is no such heading; there are: {', '.join(sorted(anchors(file)))}"
