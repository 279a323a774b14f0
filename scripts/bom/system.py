"""Libraries of the system: shared libraries that the files of a prefix need, and libraries of headers that were
compiled into them. If there is dpkg, it knows their package and version. The licence is that of the package's copyright
file, if that is machine-readable."""

import functools
import pathlib
import platform
import re
import shutil
import subprocess

from bom.thing import Thing, licence_of

# Licences whose short name in Debian differs from SPDX's.
DEBIAN_LICENCES = {
    "Expat": "MIT",
    "BSD-2-clause": "BSD-2-Clause",
    "BSD-3-clause": "BSD-3-Clause",
    "GPL-2": "GPL-2.0-only",
    "GPL-2+": "GPL-2.0-or-later",
    "GPL-3": "GPL-3.0-only",
    "GPL-3+": "GPL-3.0-or-later",
    "LGPL-2.1": "LGPL-2.1-only",
    "LGPL-2.1+": "LGPL-2.1-or-later",
    "LGPL-3+": "LGPL-3.0-or-later",
    "Apache-2.0": "Apache-2.0",
    "ISC": "ISC",
}

# Libraries of headers, by how the names of their types begin in RTTI, which stays in the files that they are compiled
# into: Debian's package, and a name for machines without Debian.
COMPILED_IN = {
    b"N8nlohmann": ("nlohmann-json3-dev", "JSON for Modern C++"),
    b"N3CLI": ("libcli11-dev", "CLI11"),
    b"N4pugi": ("libpugixml-dev", "pugixml"),
    b"N11flatbuffers": ("libflatbuffers-dev", "FlatBuffers"),
    b"N5boost": ("libboost1.81-dev", "Boost"),
}


def output(*command):
    """The output of a command; "" if the command does not exist. dpkg prints what it knows even if it fails for the
    rest."""
    return subprocess.run(command, capture_output=True, text=True).stdout if shutil.which(command[0]) else ""


def needed(paths):
    """{path: the shared libraries that it needs} for all paths that are programs or libraries."""
    if not shutil.which("readelf"):
        raise SystemExit("error: readelf is missing (Debian's package binutils)")
    found = {}
    dynamic = output("readelf", "--dynamic", "--wide", *paths, "/dev/null")  # at least two files, so that it names each
    for part in re.split(r"^File: ", dynamic, flags=re.MULTILINE)[1:]:
        names = re.findall(r"\(NEEDED\).*\[(.*)\]", part)
        if names:
            found[pathlib.Path(part.split("\n", 1)[0])] = names
    return found


def libraries(names):
    """{name: the thing that has this shared library on this machine}."""
    listed = re.findall(r"^\s*(\S+) \(.* => (.*)$", output("/sbin/ldconfig", "-p"), re.MULTILINE)
    found = {name: path for name, path in reversed(listed) if name in names}  # the linker takes the first one of a name
    spelled = {name: _spellings(pathlib.Path(path)) for name, path in found.items()}
    said = (
        output("dpkg-query", "-S", *sorted({path for paths in spelled.values() for path in paths})) if spelled else ""
    )
    owners = {path: owner for owner, path in re.findall(r"^([^:,\s]+)[:,].* (/.*)$", said, re.MULTILINE)}
    owned = {name: [owners[path] for path in paths if path in owners] for name, paths in spelled.items()}
    return {name: package(owned[name][0]) if owned.get(name) else _unknown(name) for name in names}


def _spellings(path):
    """The names that a package can have for the file: /lib is in /usr now."""
    real = path.resolve()
    return dict.fromkeys(
        str(spelled) for spelled in (path, real.parent / path.name, real, pathlib.Path(str(path).removeprefix("/usr")))
    )


def _unknown(name):
    return Thing(name, licence_comment="No package of dpkg's on this machine has it.")


def compiled_in(path):
    """The libraries of headers that are compiled into a file."""
    content = path.read_bytes()
    return [package(debian, name) for mark, (debian, name) in COMPILED_IN.items() if mark in content]


@functools.cache
def package(debian, otherwise=None):
    """The thing for a package of Debian. If no dpkg knows the package, it only has a name."""
    fields = (
        output("dpkg-query", "-W", "-f", "${Version}\t${Architecture}\t${Homepage}\n", debian)
        .split("\n")[0]
        .split("\t")
    )
    if len(fields) != 3:
        return _unknown(otherwise or debian)
    release = platform.freedesktop_os_release()
    thing = Thing(debian, fields[0], supplier=release["NAME"], homepage=fields[2] or None)
    version = fields[0].replace("+", "%2B").replace(":", "%3A").replace("~", "%7E")
    thing.purl = f"pkg:deb/{release['ID']}/{debian.replace('+', '%2B')}@{version}?arch={fields[1]}"
    read_licence(thing, pathlib.Path("/usr/share/doc") / debian / "copyright")
    return thing


def read_licence(thing, path):
    """The licence of `Files: *`. Parts of the package can have other licences, for which the file has to be read."""
    text = path.read_text(errors="replace") if path.exists() else ""
    found = re.search(r"^Files:\s*\*\s*$.*?^License:[ \t]*(.*?)$", text, re.MULTILINE | re.DOTALL)
    if not text.startswith("Format:") or not found:
        thing.licence_comment = "Its copyright file is not in a form for machines."
        return
    words = re.split(r" +(or|and) +", found[1].strip())
    spdx = [word.upper() if word in ("or", "and") else DEBIAN_LICENCES.get(word, "") for word in words]
    thing.licence = licence_of(" ".join(spdx)) if all(spdx) else None
    thing.licence_comment = f'Its copyright file says "{found[1].strip()}".'
