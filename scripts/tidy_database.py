"""usage: FILES=… ninja -t compdb | tidy_database.py ROOT: the database of compile commands for clang-tidy, to stdout.

CMake's has each source once for each target that compiles it, and no guests. This one has each of ours once, guests too: as the
host compiles it, if it does. Only those in FILES, one a line, if there are any: in place of a header the source of its name, or else the first
source that includes it.
"""

import json
import os
import pathlib
import re
import shlex
import sys


def compiles(entry):
    """(source, arguments) of each compiler that the entry of the build runs."""
    for command in entry["command"].split(" && "):
        if " -c " not in command:
            continue
        arguments = shlex.split(command)
        if pathlib.Path(arguments[0]).name == "ccache":
            del arguments[0]
        source = pathlib.Path(entry["directory"], arguments[arguments.index("-c") + 1])
        if source.suffix in (".c", ".cc"):
            yield pathlib.Path(os.path.normpath(source)), arguments


def database_of(entries, root):
    """Source: its entry. What is in build/ and .deps/ is not ours."""
    found = {}
    for entry in entries:
        for source, arguments in compiles(entry):
            if not source.is_relative_to(root) or source.relative_to(root).parts[0] in ("build", ".deps"):
                continue
            guest = any(a.startswith("--target=wasm32") for a in arguments)
            if source not in found or not guest:
                found[source] = {"directory": entry["directory"], "file": str(source), "arguments": arguments}
    return dict(sorted(found.items()))


def source_for(path, root, sources):
    """The source that shows `path` to the compiler; None if there is none."""
    if path in sources or path.suffix in (".c", ".cc"):
        return path if path in sources else None
    for twin in (path.with_suffix(".cc"), path.with_suffix(".c")):
        if twin in sources:
            return twin
    # With as many of its folders as the include says; with none, it is in the source's own.
    folders = ""
    for part in path.relative_to(root).parts[:-1]:
        folders = f"(?:{folders}{re.escape(part)}/)?"
    includes = re.compile(rf'^#include ["<]({folders}){re.escape(path.name)}[">]', re.M)
    for source in sources:
        match = includes.search(source.read_text())
        if match and (match[1] or source.parent == path.parent):
            return source
    return None


def main(root):
    root = pathlib.Path(root)
    database = database_of(json.load(sys.stdin), root)
    wanted = [pathlib.Path(f) for f in os.environ.get("FILES", "").splitlines()]
    if wanted:
        chosen = {path: source_for(path, root, database) for path in wanted}
        for path in (p for p, s in chosen.items() if s is None):
            print(f"not checked, for nothing in this build compiles it: {path}", file=sys.stderr)
        database = {s: database[s] for s in dict.fromkeys(chosen.values()) if s}
    json.dump(list(database.values()), sys.stdout, indent=1)


main(*sys.argv[1:])
