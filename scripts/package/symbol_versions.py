"""usage: symbol_versions.py POLICY_MACHINE FOLDER

Lets the programs and libraries of FOLDER run on all systems of a policy of auditwheel, such as manylinux_2_34_x86_64. The
linker binds a symbol to the newest version that the system's libraries have here. If they have an older one that the
policy allows, this binds the symbol to that. All others are reported, and the exit code is 1."""

import functools
import json
import pathlib
import re
import struct
import subprocess
import sys

import auditwheel
from elftools.elf.elffile import ELFFile

SYSTEM = ("GLIBC", "GLIBCXX", "CXXABI", "GCC")  # the versions of the C library, of the C++ library, and of GCC's own


def allowed_versions(platform):
    """{"GLIBC": {"2.2.5", …}, …}"""
    policy, machine = re.fullmatch(r"(manylinux_\d+_\d+)_(\w+)", platform).groups()
    policies = json.loads((pathlib.Path(auditwheel.__file__).parent / "policy" / "manylinux-policy.json").read_text())
    (versions,) = (one["symbol_versions"][machine] for one in policies if one["name"] == policy)
    return {name: set(versions[name]) for name in SYSTEM}


def is_allowed(version, allowed):
    name, _, number = version.partition("_")
    return name not in allowed or number in allowed[name]


def hash_of(name):
    """The hash of a name in ELF."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        value = (value ^ (value >> 24 & 0xF0)) & 0x0FFFFFFF
    return value


@functools.cache
def versions_in(library):
    """(symbol, version) of all symbols that a library defines."""
    lines = subprocess.run(
        ["readelf", "--wide", "--dyn-syms", library], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    return [match.groups() for line in lines if " UND " not in line and (match := re.search(r" (\S+?)@@?(\S+)$", line))]


def newest_allowed(symbol, library, allowed):
    found = [version for name, version in versions_in(library) if name == symbol and is_allowed(version, allowed)]
    return max(found, key=lambda version: [int(part) for part in re.findall(r"\d+", version)], default=None)


def needs_of(elf):
    """(library, version, its symbols, its position in the file) of all versions that a file needs."""
    section, index = elf.get_section_by_name(".gnu.version_r"), elf.get_section_by_name(".gnu.version")
    if section is None:
        return
    symbols = {}
    for at, symbol in enumerate(elf.get_section_by_name(".dynsym").iter_symbols()):
        symbols.setdefault(index.get_symbol(at)["ndx"], []).append(symbol.name)
    at = section["sh_offset"]
    for need, versions in section.iter_versions():
        place = at + need["vn_aux"]
        for version in versions:
            yield need.name, version.name, symbols.get(version["vna_other"], []), place
            place += version["vna_next"]
        at += need["vn_next"]


def bind(path, allowed):
    """Binds symbols to older versions if it can, and returns the other ones."""
    data, left = bytearray(path.read_bytes()), []
    with path.open("rb") as file:
        elf = ELFFile(file)
        for library, version, symbols, place in needs_of(elf):
            if is_allowed(version, allowed):
                continue
            loaded = re.search(
                rf"{re.escape(library)} => (\S+)",
                subprocess.run(["ldd", path], check=True, capture_output=True, text=True).stdout,
            )[1]
            found = {newest_allowed(symbol, loaded, allowed) for symbol in symbols}
            # Symbols of one version stay together, and the older version's name is already in the file, for other
            # symbols of the same class.
            older = found.pop() if len(found) == 1 else None
            name = elf.get_section_by_name(".dynstr").data().find(f"\0{older}\0".encode())
            if name == -1:
                left += [f"{path}: {symbol}@{version}" for symbol in symbols or ["?"]]
            else:
                struct.pack_into("<I", data, place, hash_of(older))
                struct.pack_into("<I", data, place + 8, name + 1)
    path.write_bytes(data)
    return left


def main():
    platform, folder = sys.argv[1:]
    files = [path for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file() and not path.is_symlink()]
    allowed, left = allowed_versions(platform), []
    for path in files:
        with path.open("rb") as file:
            is_elf = file.read(4) == b"\x7fELF"
        if is_elf:
            left += bind(path, allowed)
    if left:
        sys.exit(f"newer than {platform}:\n" + "\n".join(left))


if __name__ == "__main__":
    main()
