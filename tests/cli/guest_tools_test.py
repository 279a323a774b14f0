"""wasinn doctor and wasinn new: what builds guests, and where it is."""

import json
import os
import pathlib
import shutil

from command import MODEL, WASINN, CommandTest

PREFIX = pathlib.Path(WASINN).parents[1]
COMPONENTS = "WASINN_HAS_COMPONENTS" in os.environ
NO_COMPONENTS = ("missing here: this Wasmtime runs no components with wasi:nn; to get it: "
                 "scripts/deps.sh wasmtime-component where wasinn is built, then build it again\n")


class GuestToolsTest(CommandTest):
    def setUp(self):
        """A copy of the build, that is in no source tree."""
        super().setUp()
        prefix = self.dir / "build" / "any"
        (prefix / "bin").mkdir(parents=True)
        for folder in ("include", "lib", "share"):
            (prefix / folder).symlink_to(PREFIX / folder)
        self.program = shutil.copy(WASINN, prefix / "bin")
        self.env["LD_LIBRARY_PATH"] = str(PREFIX / "lib")

    def programs(self, **texts):
        """Shell scripts, which are all of PATH."""
        for name, text in texts.items():
            (self.dir / self.file(f"programs/{name}", f"#!/bin/sh\n{text}\n")).chmod(0o755)
        self.env["PATH"] = str(self.dir / "programs")

    def found(self, template):
        """The state, what was found, and the remedy."""
        result = self.wasinn("doctor", "--json", program=self.program)
        (finding,) = (one for one in json.loads(result.out) if (one["area"], one["what"]) == ("guests", template))
        return finding["state"], finding["found"], finding["remedy"]

    def test_a_target_of_rust_that_is_missing(self):
        (self.dir / "std-wasm32-wasip1").mkdir()
        self.programs(cargo="", make="", rustc=f'[ "$1 $2 $3" = "--print target-libdir --target" ] && echo {self.dir}/std-$4')
        self.assertEqual(self.found("rust")[0], "ok")
        self.assertEqual(self.found("rust-component"), ("missing", "rustc has no target wasm32-wasip2", "rustup target add wasm32-wasip2"))
        self.programs(rustc="exit 1")
        self.assertEqual(self.found("rust"), ("missing", "rustc has no target wasm32-wasip1", "rustup target add wasm32-wasip1"))

    def test_tools_that_a_source_tree_has(self):
        self.programs(make="")
        self.assertEqual(self.found("python-component"), ("missing", "no componentize-py", "pip install componentize-py"))
        self.file("scripts/deps.sh", "")
        self.assertEqual(self.found("python-component"), ("missing", "no componentize-py", "scripts/deps.sh component-guests"))
        self.file(".deps/component-tools/bin/componentize-py", "")
        tools = self.dir / ".deps/component-tools/bin"
        self.assertEqual(self.found("python-component"), ("missing", f"componentize-py is not on PATH, but in {tools}", f"export PATH={tools}:$PATH"))
        self.programs(**{"componentize-py": ""})
        self.assertEqual(self.found("python-component")[0], "ok")

    def test_a_new_component_names_what_runs_it(self):
        self.file("m.gguf", MODEL)
        self.programs(**{"make": "", "componentize-py": ""})
        result = self.wasinn("new", "x", "--lang", "python", "--model", "m.gguf", program=self.program)
        self.check(result, err="")
        missing = "".join(line for line in result.out.splitlines(True) if line.startswith("missing"))
        self.assertEqual(missing, "" if COMPONENTS else NO_COMPONENTS)

    def test_a_program_that_a_source_tree_has_not_built_yet_needs_no_installation(self):
        self.file("scripts/deps.sh", "")
        self.check(self.wasinn("bench", "--help", program=self.program), out="--target wasinn_bench.\n", err="")
