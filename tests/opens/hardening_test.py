"""Release builds are linked and compiled with what cmake/Hardening.cmake says."""

import platform
import re
import unittest

import elf

# Binaries with only our code, and enough of it that each protection leaves a trace.
OF_OURS = ("libwasinn.so", "libwasinn_backend_")


class HardeningTest(unittest.TestCase):
    def each(self, check):
        names = []
        for path in elf.built():
            with self.subTest(file=path.name):
                check(path)
            names.append(path.name)
        self.assertIn("wasinn", names)
        self.assertIn("libwasinn_backend_onnx.so", names)

    def test_segments(self):
        def check(path):
            segments = elf.readelf(path, "--segments")
            self.assertIn("GNU_RELRO", segments)
            stack = next(line for line in segments.splitlines() if "GNU_STACK" in line)
            self.assertNotIn("E", stack.replace("GNU_STACK", ""))
            self.assertNotIn(" RWE ", segments)

        self.each(check)

    def test_functions_are_found_at_start(self):
        def check(path):
            # A plug-in looks up some of WasmEdge's functions that only some of its versions have.
            if not path.name.startswith("libwasmedgePlugin"):
                self.assertTrue(re.search(r"BIND_NOW|Flags:.*\bNOW\b", elf.readelf(path, "--dynamic")))

        self.each(check)

    def test_programs_are_at_no_fixed_address(self):
        self.each(lambda path: self.assertRegex(elf.readelf(path, "--file-header"), r"Type:\s+DYN"))

    def test_code_of_ours(self):
        ours = [path for path in elf.built() if path.name.startswith(OF_OURS)]
        self.assertGreater(len(ours), 1)
        for path in ours:
            with self.subTest(file=path.name):
                self.assertIn("__stack_chk_fail", elf.readelf(path, "--dyn-syms"))
                if platform.machine() == "x86_64":
                    self.assertRegex(elf.readelf(path, "--notes"), "x86 feature:.*SHSTK")
