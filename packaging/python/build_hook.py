"""Puts the prefix of WASINN_PREFIX into the wheel, which is for one kind of machine, WASINN_MACHINE, and any Python 3."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PrefixHook(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-linux_{os.environ['WASINN_MACHINE']}"
        build_data["force_include"][os.environ["WASINN_PREFIX"]] = "wasinn/_prefix"
