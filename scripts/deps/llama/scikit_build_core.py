"""Stands in for the build system of a Python package of which only the sources are needed: pip asks it for the
package's name and version before it hands out a source archive."""

import os
import re


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    with open("PKG-INFO", encoding="utf-8") as file:
        head = file.read().split("\n\n", 1)[0]
    name, version = (re.search(rf"^{key}: (.*)$", head, re.M).group(1) for key in ("Name", "Version"))
    folder = f"{name.replace('-', '_')}-{version}.dist-info"
    os.makedirs(os.path.join(metadata_directory, folder))
    with open(os.path.join(metadata_directory, folder, "METADATA"), "w", encoding="utf-8") as file:
        file.write(head + "\n")
    return folder
