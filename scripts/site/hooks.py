"""MkDocs' hooks. Pages are written for readers of the repository, and link to files anywhere in it. For files outside
of docs the site has copies in the folder "source". For headers it has the pages that Doxygen made, and for the
decisions a list."""

import os
import pathlib
import posixpath
import re
import sys

from mkdocs.structure.files import File

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from links import DOCS, LINK, ROOT, SOURCE, links, pages, prose, resolve  # noqa: E402

API = ROOT / "build" / "doxygen" / "html"

# The tables of these pages are wide.
STYLE = """
.md-grid { max-width: 78rem; }
.md-typeset table:not([class]) { font-size: .7rem; }
.md-typeset table:not([class]) :is(td, th) { min-width: 0; padding: .5em .8em; }
.md-typeset table:not([class]) code { word-break: normal; overflow-wrap: normal; }
"""


def place_of(file):
    """The path of a file of the repository in the site; None if it is not there."""
    if file.is_dir():
        return place_of(file / "README.md") if (file / "README.md").exists() else decisions_of(file)
    if file.is_relative_to(DOCS):
        return file.relative_to(DOCS).as_posix()
    if file.parent == ROOT / "include" / "wasinn":
        page = f"{file.name.replace('_', '__').replace('.', '_8')}.html"  # Doxygen's name for it
        return f"api/{page}" if (API / page).exists() else None
    if file == ROOT / "README.md":
        return f"{SOURCE}/README.md"
    return f"{SOURCE}/{file.relative_to(ROOT).as_posix()}"


def decisions_of(folder):
    return "decisions/index.md" if folder == DOCS / "decisions" else None


def decisions():
    lines = ["# Decisions", "", "What the next reader would question, in about ten lines each.", ""]
    for path in sorted((DOCS / "decisions").glob("0*.md")):
        title = path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
        lines.append(f"- [{title}]({path.name})")
    return "\n".join(lines) + "\n"


def on_files(files, config):
    linked = set()
    for path in pages():
        if not path.is_relative_to(DOCS):
            linked.add(path)
        linked.update(resolve(path, target)[0] for _, target in links(path))
    for path in sorted(linked):
        place = place_of(path) if path.is_file() else None
        if place and place.startswith(SOURCE + "/"):
            files.append(File.generated(config, place, abs_src_path=str(path)))
    for path in API.rglob("*"):
        if path.is_file():
            files.append(File.generated(config, f"api/{path.relative_to(API).as_posix()}", abs_src_path=str(path)))
    files.append(File.generated(config, "decisions/index.md", content=decisions()))
    files.append(File.generated(config, "assets/site.css", content=STYLE))
    return files


def original_of(place):
    """The file of the repository from which a page of the site was made."""
    return ROOT / place.removeprefix(SOURCE + "/") if place.startswith(SOURCE + "/") else DOCS / place


def rewritten(line, page):
    """A line with links to pages of the site. A link to something else is replaced by its text."""
    here = page.file.src_uri

    def target_of(match):
        target = match["target"]
        if re.match(r"[a-z]+:|#", target):
            return target
        file, anchor = resolve(original_of(here), target)
        place = place_of(file) if file.exists() else target
        if place is None:
            return "NOWHERE"
        return posixpath.relpath(place, posixpath.dirname(here) or ".") + (
            f"#{anchor}" if anchor and place.endswith(".md") else ""
        )

    return re.sub(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(NOWHERE\)", r"\1", LINK.sub(target_of, line))


def on_page_markdown(markdown, page, **_):
    if page.file.src_uri == "decisions/index.md":
        return markdown
    lines = markdown.splitlines()
    for number, line in prose(markdown):
        lines[number - 1] = rewritten(line, page)
    return "\n".join(lines)


def on_post_build(config, **_):
    size = sum(path.stat().st_size for path in pathlib.Path(config["site_dir"]).rglob("*") if path.is_file())
    print(f"{size // 1000:,} kB in {os.path.relpath(config['site_dir'])}")
