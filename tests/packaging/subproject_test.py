"""wasinn as a subproject: subproject/ has it by add_subdirectory, sets nothing for it, and is set nothing by it."""

import os
import pathlib
import unittest

from packages import AFFINE, CMAKE, COMPILERS, SOURCE, run

FOLDER = pathlib.Path(os.environ["FOLDER"])  # kept, so that only the first run compiles
HERE = pathlib.Path(__file__).resolve().parent


class SubprojectTest(unittest.TestCase):
    def test_its_targets_work_and_nothing_else_changes(self):
        # The unity build is for this test's time alone.
        options = ["-DCMAKE_CXX_FLAGS=-O0", "-DWASINN_UNITY=ON", f"-DWASINN_SOURCE={SOURCE}", *COMPILERS]
        run(CMAKE, "-G", "Ninja", "-S", HERE / "subproject", "-B", FOLDER, "--fresh", *options)
        run(CMAKE, "--build", FOLDER)
        model = FOLDER / "m.affine"
        model.write_bytes(AFFINE)
        self.assertEqual(run(FOLDER / "consumer", FOLDER, model), "1 input, 1 output\n")

    def test_its_libraries_go_where_the_project_says(self):
        build = FOLDER.with_name(FOLDER.name + "-lib")
        run(CMAKE, "-G", "Ninja", "-S", HERE / "subproject", "-B", build, "--fresh", f"-DWASINN_SOURCE={SOURCE}", *COMPILERS,
            f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY={build}/elsewhere")  # fmt: skip
        self.assertIn("build elsewhere/libwasinn.so.", (build / "build.ninja").read_text())

    def test_it_installs_only_when_asked(self):
        build = FOLDER.with_name(FOLDER.name + "-install")
        configure = [CMAKE, "-G", "Ninja", "-S", HERE / "subproject", "-B", build, "--fresh", f"-DWASINN_SOURCE={SOURCE}", *COMPILERS]
        run(*configure)
        self.assertNotIn("file(INSTALL", (build / "wasinn" / "cmake_install.cmake").read_text())
        run(*configure, "-DWASINN_INSTALL=ON")
        self.assertIn("file(INSTALL", (build / "wasinn" / "cmake_install.cmake").read_text())
