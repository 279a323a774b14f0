"""The crates that are linked into a crate of ours: those of Cargo.lock, with the licences that their manifests
declare."""

import os
import re
import subprocess
import sys
import tomllib

from bom.thing import Thing, licence_of


def root(folder):
    """The crate in `folder`, with everything that is linked into it."""
    package = tomllib.loads((folder / "Cargo.toml").read_text())["package"]
    lock = tomllib.loads((folder / "Cargo.lock").read_text())["package"]
    locked = {(crate["name"], crate["version"]): crate.get("checksum") for crate in lock}
    thing = Thing(package["name"], package["version"], comment=package["description"])
    _declare(thing, package["license"])
    declared = _linked(folder)
    if declared is None:
        print("warning: not all crates are in cargo's cache: their licences are not known", file=sys.stderr)
    for (name, version), checksum in sorted(locked.items()):
        if checksum and (declared is None or (name, version) in declared):
            thing.links.append(_crate(name, version, checksum, declared))
    return thing


def standard_library(library):
    """Rust's standard library, in a library that it was linked into: the compiler leaves its version there."""
    version = re.search(rb"rustc version ([0-9.]+)", library)
    thing = Thing("Rust standard library", version[1].decode() if version else None)
    thing.licence_comment = "It comes with the compiler, without a manifest that declares a licence."
    return thing


def _crate(name, version, checksum, declared):
    thing = Thing(name, version, purl=f"pkg:cargo/{name}@{version.replace('+', '%2B')}", sha256=checksum)
    if declared is None:
        thing.licence_comment = "Its manifest is not in cargo's cache."
        thing.comment = "Locked; whether it is linked on this type of machine is not known."
    else:
        licence, thing.homepage = declared[name, version]
        _declare(thing, licence)
    return thing


def _declare(thing, licence):
    thing.licence = licence_of(licence)
    thing.licence_comment = f'Its Cargo.toml says "{licence}".' if licence else "Its Cargo.toml declares no licence."


def _linked(folder):
    """(name, version): (licence, repository) of each linked crate, without those for building and macros. None if cargo
    does not know them."""
    command = [
        os.environ.get("CARGO", "cargo"),
        "tree",
        "--offline",
        "--locked",
        "--edges",
        "normal,no-proc-macro",
        "--prefix",
        "none",
    ]
    try:
        done = subprocess.run([*command, "--format", "{p}\t{l}\t{r}"], cwd=folder, capture_output=True, text=True)
    except OSError:
        return None
    if done.returncode != 0:
        return None
    rows = (line.split("\t") for line in done.stdout.splitlines())
    found = (
        (re.match(r"(\S+) v(\S+)", package), licence, repository.removesuffix(" (*)"))
        for package, licence, repository in rows
    )
    return {match.groups(): (licence, repository or None) for match, licence, repository in found}
