"""Commands that pages show, in a folder like the repository's after a build."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from command import PROBE, WASINN, CommandTest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "scripts" / "site"))
import links  # noqa: E402

# A mark may say what a block needs: a backend's name, wamr, components, smollm2 (the model), jco for making components, or the tools of a language's.
BLOCK = r"^<!-- {}(?:: (\w+))? -->\n```\w*\n(.*?)^```$"
TIME = re.compile(r" *\d+\.\d+ [mµ]s")
FILE = re.compile(r"^<!-- file: (\S+) -->\n```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MORE = "…"  # any lines


def blocks(page, mark):
    """(what it needs, its lines, where it ends) of each block that has this mark."""
    found = re.finditer(BLOCK.format(mark), page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [(block[1], block[2], block.end()) for block in found]


def shown_commands(page):
    """Each line of the page's blocks without a language, as one command: without its comment, a prompt, and breaks of lines."""
    language = None
    for line in page.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        if fence := re.match(r"\s*```(\w*)", line):
            language = fence[1] if language is None else None
        elif language in ("", "sh"):
            yield re.sub(r"\s+#\s.*", "", line.removeprefix("$ "))


def pages_with(mark):
    return [page for page in links.pages() if blocks(page, mark)]


class PagesTest(CommandTest):
    def setUp(self):
        super().setUp()
        for name in ("examples", "guest", "models"):  # no links, by which no guest leaves its folder
            shutil.copytree(SOURCE / name, self.dir / name, ignore=shutil.ignore_patterns("target", "node_modules"))
        build = self.dir / "build" / "release"
        build.mkdir(parents=True)
        (build / "bin").symlink_to(pathlib.Path(WASINN).parent)
        (build / "guests").symlink_to(pathlib.Path(PROBE).parent)
        tools = SOURCE / ".deps" / "component-tools" / "bin"
        self.env["PATH"] = os.pathsep.join([f"{build}/bin", self.env["PATH"], str(tools)])
        self.env["WASINN_CONFIG"] = ""
        self.there = {backend["name"] for backend in json.loads(self.wasinn("backends", "--json").out) if backend["available"]}
        self.there |= {name.lower() for name in ("WAMR", "COMPONENTS") if f"WASINN_HAS_{name}" in os.environ}
        if "components" in self.there and (tools / "jco").exists():
            self.there.add("jco")
        (self.dir / ".deps").symlink_to(SOURCE / ".deps")
        if "llama" in self.there and (SOURCE / ".deps/share/smollm2").exists():
            self.there.add("smollm2")
        if "components" in self.there:
            makers = {"cargo-wasm": "rust_guests", "componentize-py": "python_guests", "componentize-js": "javascript_guests", "zig": "zig_guests", "asc": "assemblyscript_guests", "go-wasm": "go_components"}
            self.there |= {guests for tool, guests in makers.items() if (tools / tool).exists()}
        # Crates that are here already.
        self.env |= {"CARGO_HOME": os.environ.get("CARGO_HOME", os.path.expanduser("~/.cargo")), "CARGO_NET_OFFLINE": "true",
                     "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", os.path.expanduser("~/.rustup")),
                     "WASINN_COMPILE_TIMEOUT": "0"}  # an interpreter takes long on a busy machine

    def run_step(self, command, printed=None):
        """`printed`: lines that it prints, among others and in this order."""
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=self.dir, env=self.env, capture_output=True, text=True, timeout=900)  # Cargo compiles
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}\n{done.stderr}")
        came = iter(TIME.sub("", line).rstrip() for line in (done.stdout + done.stderr).splitlines())
        for line in printed or []:
            if line != MORE:
                self.assertIn(TIME.sub("", line).rstrip(), came, f"{command}\n{done.stdout}")  # takes what comes before it, too
        return done.stdout
