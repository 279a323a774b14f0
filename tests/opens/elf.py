"""Programs and libraries, as readelf shows them."""

import os
import pathlib
import subprocess

BUILD = pathlib.Path(os.environ["WASINN_BUILD"])


def is_elf(path):
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def built():
    """The programs and libraries that we build."""
    return [path for path in [*BUILD.glob("bin/*"), *BUILD.glob("lib/**/*.so*")] if is_elf(path)]


def readelf(path, *flags):
    return subprocess.run(["readelf", "--wide", *flags, path], capture_output=True, text=True, check=True).stdout
