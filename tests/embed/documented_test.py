"""The code that pages and the heads of wasinn.h and wasinn.hpp show compiles as it stands there, or is quoted as it is.

WASINN_SOURCE names the source tree, WASMTIME_INCLUDE the engine's headers, CC and CXX the compilers."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["WASINN_SOURCE"])
C = [os.environ["CC"], "-std=c11"]
CXX = [os.environ["CXX"], "-std=c++17"]
FLAGS = ["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", f"-I{SOURCE}/include", f"-isystem{os.environ['WASMTIME_INCLUDE']}"]


def head_example(header, begin):
    """The first indented lines of a header's first comment; `begin` is what each line of it begins with."""
    lines = (SOURCE / "include/wasinn" / header).read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(f"{begin}     "))
    code = []
    for line in lines[first:]:
        if not line.startswith(f"{begin}     "):
            break
        code.append(line[len(begin) + 5 :])
    return "\n".join(line for line in code if not line.startswith("…")) + "\n"  # …: what the reader has


class DocumentedTest(unittest.TestCase):
    def compile(self, command, suffix, before, code, after):
        self.assertGreaterEqual(len(code.splitlines()), 4, code)
        with tempfile.TemporaryDirectory(prefix="wasinn-documented-") as folder:
            path = pathlib.Path(folder) / f"example{suffix}"
            path.write_text(before + code + after, encoding="utf-8")
            done = subprocess.run([*command, *FLAGS, path], capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, f"{path.read_text(encoding='utf-8')}\n{done.stderr}")

    def test_the_head_of_the_c_api(self):
        self.compile(C, ".c", "#include <wasinn/wasinn.h>\nvoid example(void);\nvoid example(void) {\n", head_example("wasinn.h", " *"), "}\n")

    def test_the_head_of_the_cpp_api(self):
        before = "#include <wasinn/wasinn.hpp>\nint Fail(const char* message);\nint Example();\nint Example() {\n"
        self.compile(CXX, ".cc", before, head_example("wasinn.hpp", "//"), "return 0;\n}\n")

    def test_the_readme(self):
        (code,) = re.findall(r"^```cpp\n(.*?)^```$", (SOURCE / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        before = (
            "#include <wasinn/wasmtime.hpp>\n"
            "wasinn_guest* GuestOf(wasmtime_context_t* context, void* user);\n"
            "void Check(const wasinn::Status& status);\n"
            "void Example(wasmtime_linker_t* linker, const wasinn::ModelOptions& digits);\n"
            "void Example(wasmtime_linker_t* linker, const wasinn::ModelOptions& digits) {\n"
        )
        # It shows what is called, and leaves out what to do where a call fails.
        self.compile([*CXX, "-Wno-unused-result"], ".cc", before, code, "}\n")

    def test_guests_of_pages(self):
        before = (
            "#include <string_view>\n#include <vector>\n#include <wasi_nn.hpp>\n"
            "int fail(std::string_view why);\nint Example();\nint Example() {\n"
        )
        for page, fence in (("README.md", "```c++"), ("docs/guests.md", "<!-- compile -->\n```cpp")):
            text = (SOURCE / page).read_text(encoding="utf-8")
            (code,) = re.findall(rf"^{re.escape(fence)}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
            guest = [CXX[0], "-std=c++20", f"-I{SOURCE}/guest/c", f"-I{SOURCE}/guest/cpp"]
            self.compile(guest, ".cc", before, code, "return 0;\n}\n")

    def test_settings_and_limits_of_the_embedding_guide(self):
        text = (SOURCE / "docs/embedding.md").read_text(encoding="utf-8")
        settings, limits = re.findall(r"^```c\+\+\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        before = "#include <wasinn/wasinn.hpp>\nvoid Check(const wasinn::Status& status);\nvoid Example();\nvoid Example() {\n"
        self.compile(CXX, ".cc", before, settings + limits, "}\n")

    def test_the_embedding_guide_quotes_the_examples(self):
        text = (SOURCE / "docs/embedding.md").read_text(encoding="utf-8")
        quoted = re.findall(r"^<!-- from (\S+) -->\n```\w+\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        self.assertGreater(len(quoted), 8)
        for file, code in quoted:
            self.assertIn(code, (SOURCE / file).read_text(encoding="utf-8"), file)

    def test_the_backend_guide_quotes_the_template(self):
        guide = (SOURCE / "docs/backend-guide.md").read_text(encoding="utf-8")
        template = (SOURCE / "backends/template/template.cc").read_text(encoding="utf-8")
        quoted = re.findall(r"^```cpp\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE)
        self.assertEqual(len(quoted), 3)
        for code in quoted:
            self.assertIn(code, template)
        table = (SOURCE / "include/wasinn/backend.h").read_text(encoding="utf-8")
        named = re.findall(r"`(\w+)`", "".join(line for line in guide.splitlines() if line.startswith("| ")))
        self.assertGreater(len(named), 15)
        for name in named:
            self.assertRegex(table + template, rf"\b(WASINN_(ERROR_)?)?{name}\b", "of the table of functions")
        for link in re.findall(r"\]\(([^)h][^)]*)\)", guide):
            self.assertTrue((SOURCE / "docs" / link).exists(), link)

    def test_the_template_is_short(self):
        files = [path for path in (SOURCE / "backends/template").rglob("*") if path.is_file()]
        self.assertLessEqual(sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files), 150)
