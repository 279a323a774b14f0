"""Runs the commands and the code of docs/python.md and of the package's own page, one after the other."""

import contextlib
import importlib.util
import io
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import wasinn
from surroundings import GUESTS, IMAGES, MODELS, SITE, SOURCE, InstalledTest

# Additions that a marked block of a page needs besides the package.
NEEDS = {
    "here": True,
    "numpy": importlib.util.find_spec("numpy") is not None,
    "llama": any(SITE.glob("llama_cpp/lib/*.so")),
}


class PageTest(InstalledTest):
    def setUp(self):
        super().setUp()
        for file in (MODELS / "digits.onnx", MODELS / "tiny.gguf", GUESTS / "classify.wasm"):
            shutil.copy(file, self.dir)
        shutil.copy(IMAGES / "images/0002_label-2.png", self.dir / "photo.png")
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.dir)

    def printed(self, code, names):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(code, names)  # noqa: S102
        return out.getvalue()

    def test_the_code_of_python_md(self):
        page, names, out = (SOURCE / "docs/python.md").read_text(), {}, ""
        self.assertEqual(
            len(re.findall("^```python$", page, re.MULTILINE)),
            len(re.findall("^<!-- .* -->\n```python$", page, re.MULTILINE)),
        )
        for need, code in re.findall(r"^<!-- (\w+) -->\n```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
            if NEEDS[need]:
                out += self.printed(code, names)
        for text in ("(1, 10) [[0.09", "0 exited\n", "97.9 %", "security\n"):
            self.assertIn(text, out)
        if NEEDS["numpy"]:
            self.assertIn("[8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8]\n", out)
        if NEEDS["llama"]:
            self.assertIn(" License", out)

    def test_the_commands_of_python_md(self):
        page = (SOURCE / "docs/python.md").read_text()
        out = [
            subprocess.run(command, shell=True, check=True, capture_output=True, text=True, timeout=60).stdout
            for command in re.findall(r"^<!-- here -->\n```\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
        ]
        self.assertIn("97.9 %", out[0])
        (wheel,) = pathlib.Path(os.environ["WASINN_DIST"]).glob("*.whl")
        self.assertIn(f"pip install 'dist/{wheel.name}[onnx]'", page)
        self.assertEqual(out[1].strip(), str(wasinn.PREFIX))
        self.assertTrue((wasinn.PREFIX / "include/wasinn/wasinn.h").is_file())
        self.assertTrue((wasinn.PREFIX / "lib/libwasinn.so.0.1").is_file())

    def test_the_packages_own_page(self):
        (code,) = re.findall(
            r"^```python\n(.*?)^```$", (SOURCE / "packaging/python/README.md").read_text(), re.DOTALL | re.MULTILINE
        )
        pixels = wasinn.Tensor("f32", (1, 1, 8, 8), bytes(256))
        self.assertIn("shape=(1, 10)", self.printed(code, {"pixels": pixels}))

    def test_the_reference_names_what_there_is(self):
        page = (SOURCE / "docs/python.md").read_text()
        for names, methods in re.findall(r"^\| `(\w+).*?`(?:, `\w+`)? \| (.*) \|$", page, re.MULTILINE):
            subject = getattr(wasinn, names, None)
            if isinstance(subject, type):
                known = (
                    set(dir(subject))
                    | set(getattr(subject, "__annotations__", {}))
                    | {"description", "code", "message", "backend"}
                )
                for method in re.findall(r"(?<!\S)`(\w+)`", methods):
                    self.assertIn(method, known, names)
        for name in wasinn.__all__:
            if not name.startswith("_") and name not in ("Backend", "Io", "Model", "Signature"):
                self.assertIn(f"`{name}", page)


if __name__ == "__main__":
    unittest.main()
