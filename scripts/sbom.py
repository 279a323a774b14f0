#!/usr/bin/env python3
"""usage: sbom.py [-o FILE] PREFIX: an SBOM (SPDX 2.3, JSON) of what `cmake --install` put into PREFIX, with licences.

It lists each file with its hashes and its package, which is wasinn or a framework or engine of .deps; the content shows
which. For these it lists version, licence, the crates and header libraries that were compiled into them, and the
libraries of the system that they need. A licence is stated if its text or a manifest declares it, and is NOASSERTION
otherwise; licenseComments says why. Run it in the checkout that built PREFIX. A file of no known package is an
error."""

import argparse
import fnmatch
import os
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / ".deps" / "sbom"))
try:
    from spdx_tools.spdx.writer.json.json_writer import write_document_to_stream
except ImportError as error:
    sys.exit(f"error: {error}; run scripts/deps.sh sbom")

from bom import fetched, spdx, system  # noqa: E402 # after the check
from bom.thing import Thing, has_text  # noqa: E402

# Our own files that cmake/Install.cmake installs; LIB is lib or its name in GNUInstallDirs. `*` matches folders, too.
OURS = """
bin/wasinn bin/wasinn-bench bin/wasinn-serve bin/wasinn-conformance
include/wasinn/*.h include/wasinn/*.hpp include/wasinn-guest/*.h include/wasinn-guest/*.hpp include/wasinn-guest/*.c
include/wasinn-guest/wit/*.wit
include/wasinn-guest/rust/*.rs include/wasinn-guest/rust/Cargo.toml include/wasinn-guest/go/*.go
include/wasinn-guest/go/go.mod include/wasinn-guest/zig/*.zig include/wasinn-guest/assemblyscript/*.ts
LIB/libwasinn.so.* LIB/libwasinn_*.a LIB/libwasinn_wamr.so LIB/libwasi_nn_backend_*.so
LIB/wasinn/libwasinn_backend_*.so LIB/wasinn/libwasinn_*_runtime.so LIB/wasinn/libwasinn_bench_torch.so
LIB/wasinn/libwasinn_count_allocations.so
LIB/wasinn/install-hints LIB/wasinn/wasinn-worker LIB/wasmedge/libwasmedgePluginWasiNN*.so
LIB/cmake/wasinn/*.cmake LIB/pkgconfig/wasinn*.pc
share/wasinn/backend/*.h share/wasinn/backend/*.cc share/wasinn/backend/backend.map
share/wasinn/backend/template/CMakeLists.txt
share/wasinn/engines/*.h share/wasinn/engines/*.cc share/wasinn/demo/* share/wasinn/new/* share/wasinn/conformance/*
share/doc/wasinn/*.md share/doc/wasinn/*.svg share/doc/wasinn/*.png share/doc/wasinn/*.jpg share/doc/wasinn/*.yaml
share/doc/wasinn/*.proto
share/doc/wasinn/*.h share/doc/wasinn/*.hpp share/doc/wasinn/*.c share/doc/wasinn/*.cc share/doc/wasinn/*.rs
share/doc/wasinn/*.go share/doc/wasinn/*.zig
share/doc/wasinn/*.py share/doc/wasinn/*.js share/doc/wasinn/*.ts share/doc/wasinn/*.wit share/doc/wasinn/*.wat
share/doc/wasinn/*.toml
share/doc/wasinn/*.txt share/doc/wasinn/*.Dockerfile share/doc/wasinn/*.lock share/doc/wasinn/*.mod
share/doc/wasinn/*.sh share/doc/wasinn/LICENSE
share/doc/wasinn/examples/wake-word/*.onnx share/doc/wasinn/examples/agent/weather/*
share/doc/wasinn/examples/guard/src/rules.json
share/doc/wasinn/examples/classify/images/*.json share/doc/wasinn/bench/scale/measured.json
share/man/man1/wasinn*.1 share/bash-completion/completions/wasinn share/zsh/site-functions/_wasinn
share/fish/vendor_completions.d/wasinn.fish
""".split()


class Prefix:
    def __init__(self, folder):
        self.folder = folder
        self.files, self.links = [], {}  # {file: the links to it}
        for path in sorted(folder.rglob("*")):
            if path.is_symlink():
                self._follow(path)
            elif not path.is_dir():
                self.files.append(path)
        header = folder / "include" / "wasinn" / "types.h"
        found = header.is_file() and re.search(r'^#define WASINN_VERSION "(.*)"', header.read_text(), re.MULTILINE)
        if not found:
            sys.exit(f"error: {folder} is no prefix of wasinn: {header} does not have its version")
        self.version = found[1]

    def _follow(self, link):
        target = link.resolve()
        if not target.is_file() or not target.is_relative_to(self.folder):
            sys.exit(f"error: {link} leads to {target}, which is no file of {self.folder}")
        self.links.setdefault(target, []).append(self.name(link))

    def name(self, path):
        return path.relative_to(self.folder).as_posix()

    def claim(self, deps):
        """All things that have files here; wasinn is the first."""
        wasinn = our_thing(self.version)
        things, unknown = {wasinn: []}, []
        for path in self.files:
            sha256 = fetched.digest(path)
            thing = deps.claim(path, sha256) or (wasinn if is_ours(self.name(path)) else None)
            if thing is None:
                unknown.append(self.name(path))
                continue
            thing.files.append((self.name(path), fetched.digest(path, "sha1"), sha256, self.links.get(path, [])))
            things.setdefault(thing, []).append(path)
        if unknown:
            sys.exit(
                "\n".join(
                    f"error: {name}: of no known package (scripts/sbom.py, scripts/bom/fetched.toml)"
                    for name in unknown
                )
            )
        self._look_inside(things, wasinn, deps)
        return wasinn, list(things)

    def _look_inside(self, things, wasinn, deps):
        here = {path.name for path in self.files} | {
            pathlib.Path(link).name for links in self.links.values() for link in links
        }
        owner = {path: thing for thing, paths in things.items() for path in paths}
        wanted = {}
        for path, libraries in system.needed(self.files).items():
            wanted.setdefault(owner[path], set()).update(set(libraries) - here)
        found = system.libraries(set().union(*wanted.values()))
        for thing, libraries in wanted.items():
            thing.needs = unique(deps.needed(library) or found[library] for library in sorted(libraries))
        wasinn.links = unique(thing for path in things[wasinn] for thing in system.compiled_in(path))


def unique(things):
    return list(dict.fromkeys(things))


def is_ours(name):
    patterns = (re.sub(r"^LIB/", "lib*/", pattern) for pattern in OURS)
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def our_thing(version):
    home = tomllib.loads((ROOT / "packaging" / "home.toml").read_text())
    thing = Thing(
        "wasinn",
        version,
        supplier=home["maintainer"],
        homepage=home["site"],
        comment="WebAssembly guests run machine-learning models by it.",
    )
    licence = next(
        (
            licence
            for licence in ("Apache-2.0", "Apache-2.0 WITH LLVM-exception")
            if has_text(licence, ROOT / "LICENSE")
        ),
        None,
    )
    thing.licence, thing.licence_comment = licence, "The text is share/doc/wasinn/LICENSE."
    return thing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", type=pathlib.Path)
    parser.add_argument("-o", "--output", metavar="FILE", help="rather than the standard output")
    arguments = parser.parse_args()
    prefix = Prefix(arguments.prefix.resolve())
    wasinn, things = prefix.claim(fetched.Deps(ROOT))
    document = spdx.Document(wasinn).build(things)
    with open(arguments.output, "w", encoding="utf-8") if arguments.output else os.fdopen(os.dup(1), "w") as stream:
        write_document_to_stream(document, stream)  # it validates first
        stream.write("\n")


if __name__ == "__main__":
    main()
