"""Finds the files of a prefix that come from .deps, by their content, and the packages that deps.sh fetched them
from."""

import hashlib
import pathlib
import platform
import re
import subprocess
import tomllib
import urllib.parse

from bom import crates
from bom.thing import Thing, has_text

TABLE = pathlib.Path(__file__).with_name("fetched.toml")


def digest(path, algorithm="sha256"):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


class Fetch:
    """A package that a recipe fetches: a line of fetches.sh."""

    def __init__(self, kind, name, version, classifier, hashes):
        self.name, self.version = name, version
        path = urllib.parse.quote(name.replace(":", "/"), safe="/")
        self.purl = f"pkg:{kind}/{path}@{version}" + (f"?classifier={classifier}" if classifier else "")
        # A wheel has a hash for each type of machine (scripts/manifest.sh).
        hashes = hashes.split()
        self.sha256 = hashes[0 if len(hashes) == 1 or platform.machine() == "x86_64" else 1]


class Deps:
    def __init__(self, root):
        self.root, self.dir = root, root / ".deps"
        self.table = tomllib.loads(TABLE.read_text())["package"]
        self.fetches = {}  # recipe: {name: Fetch}
        self.by_name = {}  # a file's name: [(its path below .deps, entry of the table)]
        self.by_size = {}
        self.things = {}
        self._ask(self._filled())
        for entry in self.table:
            self._index(entry)

    def _filled(self):
        """The recipes of the table whose files are in .deps, with their stamps."""
        recipes = {entry["recipe"] for entry in self.table}
        stamps = {recipe: self.dir / ".stamps" / recipe for recipe in sorted(recipes)}
        return {recipe: stamp.read_text().strip() for recipe, stamp in stamps.items() if stamp.exists()}

    def _ask(self, filled):
        command = [self.root / "scripts" / "lib" / "fetches.sh", *filled]
        for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
            kind, name, *rest = line.split("\t")
            if kind == "recipe":
                if rest != [filled[name]]:
                    raise SystemExit(
                        f"error: .deps has {filled[name]}, and scripts/manifest.sh has {rest[0]}: "
                        f"run scripts/deps.sh {name}"
                    )
                known = self.fetches.setdefault(name, {})
            else:
                known[name] = Fetch(kind, name, *rest)

    def _index(self, entry):
        if entry["recipe"] not in self.fetches:
            return
        for line in (self.dir / ".stamps" / f"{entry['recipe']}.files").read_text().splitlines():
            path = line.removeprefix("./")
            if path.startswith(tuple(entry["files"])):
                self.by_name.setdefault(pathlib.Path(path).name, []).append((path, entry))
                self.by_size.setdefault((self.dir / path).stat().st_size, []).append((path, entry))

    def claim(self, path, sha256):
        """The thing that a file of the prefix belongs to; None if .deps has no such file."""
        for candidate, entry in self.by_size.get(path.stat().st_size, []):
            if digest(self.dir / candidate) == sha256:
                return self._thing(entry, candidate)
        return None

    def needed(self, name):
        """The thing that has a library of this name; None if there is none."""
        found = self.by_name.get(name)
        return self._thing(found[0][1], found[0][0]) if found else None

    def _thing(self, entry, path):
        if entry["name"] not in self.things:
            is_ours = "crate" in entry and "fetch" not in entry
            thing = self._crate(entry, path) if is_ours else self._package(entry, path)
            if "crate" in entry and not is_ours:
                thing.links.extend(self._crate(entry, path).links)
            self.things[entry["name"]] = thing
        return self.things[entry["name"]]

    def _crate(self, entry, path):
        thing = crates.root(self.root / entry["crate"])
        thing.links.append(crates.standard_library((self.dir / path).read_bytes()))
        return thing

    def _package(self, entry, path):
        thing = Thing(entry["name"], supplier=entry.get("supplier"), comment=entry.get("comment"))
        fetches = self.fetches[entry["recipe"]]
        if "inside" in entry:
            thing.comment = f"It comes in {fetches[entry['inside']].purl}."
            mark = entry.get("version_mark")
            folder = self.dir / pathlib.Path(path).parent
            found = mark and [
                re.search(mark.encode(), file.read_bytes())
                for file in sorted(folder.glob("*"))
                if self._is_of(file, entry)
            ]
            thing.version = next((match[1].decode() for match in found or [] if match), None)
        else:
            fetch = fetches[entry.get(f"fetch_{platform.machine()}", entry["fetch"])]
            thing.version, thing.purl, thing.sha256 = fetch.version, fetch.purl, fetch.sha256
        self._set_licence(thing, entry)
        return thing

    def _is_of(self, file, entry):
        return str(file.relative_to(self.dir)).startswith(tuple(entry["files"]))

    def _set_licence(self, thing, entry):
        text = entry.get("licence_text")
        if not text:
            thing.licence_comment = "No text of its licence is in what was fetched."
        elif not has_text(entry["licence"], self.dir / text):
            thing.licence_comment = f"{text}, as fetched, is not the text of {entry['licence']}."
        else:
            thing.licence, thing.licence_comment = entry["licence"], f"The text is {text}, as fetched."
