"""wasinn as another project has it: installed to a prefix, found by CMake and pkg-config, outside of its own tree."""

import json
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["WASINN_SOURCE"])
BUILD = os.environ["WASINN_BUILD"]
WASMTIME_INCLUDE = os.environ["WASMTIME_INCLUDE"]
WASMTIME_LIB = os.environ["WASMTIME_LIB"]
SERVES_COMPONENTS = os.environ["WASMTIME_SERVES_COMPONENTS"] == "TRUE"
WAMR_LIB = os.environ["WAMR_LIB"]  # "" without WAMR
WAMR_INCLUDE, CLANG = os.environ["WAMR_INCLUDE"], os.environ["GUEST_CLANG"]
WASMEDGE_LIB, WASMEDGE_INCLUDE = os.environ["WASMEDGE_LIB"], os.environ["WASMEDGE_INCLUDE"]  # "" without WasmEdge
WASMEDGE_RUN = os.environ["WASMEDGE_RUN"]  # what a program that links it must be run by; "": nothing
CARGO_WASM, GO_WASM = os.environ["CARGO_WASM"], os.environ["GO_WASM"]  # "": no guests in Rust, or in Go
CC, CXX, CMAKE = os.environ["CC"], os.environ["CXX"], os.environ["CMAKE"]
MODEL = SOURCE / "models" / "digits.onnx"
HERE = pathlib.Path(__file__).resolve().parent


def run(*command, cwd, env=None):
    command = [str(word) for word in command]
    env = {**os.environ, **(env or {})}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        output = done.stdout + done.stderr
        raise AssertionError(f"{shlex.join(command)}: exit code {done.returncode}\n{output}")
    return done.stdout


class Installed(unittest.TestCase):
    """A prefix, and programs that use it."""

    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="wasinn-embed-"))
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        run(CMAKE, "--install", BUILD, "--prefix", cls.dir / "installed", cwd=cls.dir)
        # A prefix may be moved.
        cls.prefix = (cls.dir / "installed").rename(cls.dir / "prefix")
        copies = {
            "embed-wasmtime": "example",
            "embed-component": "component-example",
            "embed-async": "async-example",
            "embed-wamr": "wamr-example",
            "embed-wasmedge": "wasmedge-example",
        }
        for name, copy in copies.items():
            shutil.copytree(SOURCE / "examples" / name, cls.dir / copy)
        for path in [*HERE.glob("*.c*"), *HERE.glob("*.wat")]:
            shutil.copy(path, cls.dir)

    def pkg_config(self, package, *flags):
        env = {"PKG_CONFIG_PATH": str(next(self.prefix.glob("lib*/**/pkgconfig")))}
        return shlex.split(run("pkg-config", *flags, package, cwd=self.dir, env=env))

    def library_path(self):
        return f"{next(self.prefix.glob('lib*/**/libwasinn.so')).parent}:{WASMTIME_LIB}"

    def check_example(self, program, example="example"):
        env = {"LD_LIBRARY_PATH": self.library_path()}
        out = run(program, MODEL, self.dir / example / "guest.wat", cwd=self.dir, env=env)
        self.assertEqual(sorted(out.splitlines()), ["guest 0 sees a 5", "guest 1 sees a 7"])

    def build_by_cmake(self, source, build):
        prefixes = f"{self.prefix};{pathlib.Path(WASMTIME_INCLUDE).parent};{pathlib.Path(WASMTIME_LIB).parent}"
        run(CMAKE, "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefixes}", cwd=self.dir)
        run(CMAKE, "--build", build, cwd=self.dir)
        return self.dir / build


class EmbedTest(Installed):
    def test_the_example_by_cmake(self):
        self.check_example(self.build_by_cmake("example", "by-cmake") / "embed-wasmtime")

    def test_the_async_example(self):
        program = self.build_by_cmake("async-example", "async-by-cmake") / "embed-async"
        env = {"LD_LIBRARY_PATH": self.library_path()}
        out = run(program, MODEL, self.dir / "async-example" / "guest.wat", 50, 20, cwd=self.dir, env=env)
        self.assertEqual(out, "50 guests see a 5\n")

    def test_the_component_example(self):
        program = self.build_by_cmake("component-example", "component-by-cmake") / "embed-component"
        if SERVES_COMPONENTS:
            self.check_example(program, "component-example")
        else:  # it builds, and says what is missing
            with self.assertRaisesRegex(AssertionError, "scripts/deps.sh wasmtime-component"):
                self.check_example(program, "component-example")

    def test_the_example_by_pkg_config(self):
        flags = self.pkg_config("wasinn-wasmtime", "--cflags", "--libs")
        wasmtime = [f"-isystem{WASMTIME_INCLUDE}", f"-L{WASMTIME_LIB}"]
        strict = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
        run(CXX, *strict, "example/main.cc", "-o", "by-pkg-config", *wasmtime, *flags, "-pthread", cwd=self.dir)
        self.check_example(self.dir / "by-pkg-config")

    def test_a_missing_component_is_an_error(self):
        (self.dir / "missing").mkdir()
        (self.dir / "missing" / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\n"
            "project(x LANGUAGES CXX)\n"
            "find_package(wasinn REQUIRED COMPONENTS moon)\n"
        )
        with self.assertRaisesRegex(AssertionError, "built without the component\\s+'moon'"):
            run(CMAKE, "-G", "Ninja", "-S", "missing", "-B", "missing/build", f"-DCMAKE_PREFIX_PATH={self.prefix}", cwd=self.dir)

    def test_the_adapter_from_its_source(self):
        sources = sorted((self.prefix / "share" / "wasinn" / "engines" / "wasmtime").glob("*.cc"))
        flags = self.pkg_config("wasinn", "--cflags", "--libs")
        command = [CXX, "-std=c++17", "example/main.cc", *sources, "-o", "by-source", f"-isystem{WASMTIME_INCLUDE}"]
        run(*command, f"-L{WASMTIME_LIB}", *flags, "-lwasmtime", "-pthread", cwd=self.dir)
        self.check_example(self.dir / "by-source")

    def test_c_program(self):
        flags = self.pkg_config("wasinn-wasmtime", "--cflags", "--libs")
        strict = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
        wasmtime = [f"-isystem{WASMTIME_INCLUDE}", f"-L{WASMTIME_LIB}"]
        run(CC, *strict, "c_program.c", "-o", "c-program", *wasmtime, *flags, cwd=self.dir)
        out = run("./c-program", cwd=self.dir, env={"LD_LIBRARY_PATH": self.library_path()})
        self.assertEqual(out, "linked, then refused: invalid_argument\n")

    def test_cpp_program(self):
        flags = self.pkg_config("wasinn", "--cflags", "--libs")
        strict = ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
        run(CXX, *strict, "cpp_program.cc", "-o", "cpp-program", *flags, cwd=self.dir)
        out = run("./cpp-program", MODEL, cwd=self.dir, env={"LD_LIBRARY_PATH": self.library_path()})
        self.assertTrue(out.endswith("all checks passed\n"), out)

    def test_every_header_compiles_alone_in_c_and_cpp(self):
        flags = self.pkg_config("wasinn", "--cflags") + [f"-isystem{WASMTIME_INCLUDE}"]
        flags += [f"-isystem{WAMR_INCLUDE}"] if WAMR_LIB else []
        flags += [f"-isystem{WASMEDGE_INCLUDE}"] if WASMEDGE_LIB else []
        flags += ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
        headers = sorted((self.prefix / "include" / "wasinn").iterdir())
        self.assertGreaterEqual(len(headers), 5)
        for header in headers:
            if (header.name == "wamr.h" and not WAMR_LIB) or (header.name == "wasmedge.h" and not WASMEDGE_LIB):
                continue
            text = f"#include <wasinn/{header.name}>\n#include <wasinn/{header.name}>\n"
            (self.dir / "header.cc").write_text(text)
            run(CXX, "-std=c++17", "-fsyntax-only", *flags, "header.cc", cwd=self.dir)
            if header.suffix == ".h":
                (self.dir / "header.c").write_text(text)
                run(CC, "-std=c11", "-fsyntax-only", *flags, "header.c", cwd=self.dir)

    def test_the_installed_command(self):
        command = next(self.prefix.glob("bin/wasinn"))
        env = {"LD_LIBRARY_PATH": "", "HOME": str(self.dir)}
        self.assertRegex(run(command, "--version", cwd=self.dir, env=env), r"^wasinn \d")
        self.assertIn("image", run(command, "inspect", MODEL, cwd=self.dir, env=env))
        (self.dir / "guest.wat").write_text('(module (func (export "_start")))')
        run(command, "run", "guest.wat", cwd=self.dir, env=env)

    def test_what_guests_in_rust_and_go_include(self):
        include, guests = self.prefix / "include" / "wasinn-guest", []
        if CARGO_WASM:
            package = ["--manifest-path", include / "rust" / "Cargo.toml", "--target-dir", self.dir / "cargo"]
            run(CARGO_WASM, "build", "--release", "--quiet", *package, "--example", "digits", cwd=self.dir)
            guests.append(self.dir / "cargo" / "wasm32-wasip1" / "release" / "examples" / "digits.wasm")
        if GO_WASM:
            guests.append(self.dir / "digits-go.wasm")
            cache = {"GOCACHE": str(SOURCE / "build" / "go-guests")}
            run(GO_WASM, "build", "-buildvcs=false", "-o", guests[-1], "./examples/digits", cwd=include / "go", env=cache)
        for guest in guests:
            env = {"LD_LIBRARY_PATH": "", "HOME": str(self.dir)}
            out = run(self.prefix / "bin" / "wasinn", "run", "--model", f"digits={MODEL}", guest, cwd=self.dir, env=env)
            self.assertEqual(len(re.findall(r"[0-9.e-]+", out)), 10, out)

    def test_rust_refuses_memory_that_a_host_could_write_to_later(self):
        programs = {
            "{ let cells = [Cell::new(0f32)]; context.set_output(0, &cells, &written).unwrap(); } context.compute().unwrap();": "E0597",
            "context.set_output(0, &cells, &written).unwrap(); drop(cells); context.compute().unwrap();": "E0505",
            "std::thread::scope(|scope| { scope.spawn(|| context.compute()); });": "E0277",
            "let _ = &mut *context;": "E0596",
        }
        package = self.dir / "refused"
        (package / "src").mkdir(parents=True)
        crate = self.prefix / "include" / "wasinn-guest" / "rust"
        manifest = f'[package]\nname = "refused"\nedition = "2021"\n[dependencies]\nwasinn-guest = {{ path = "{crate}" }}\n'
        (package / "Cargo.toml").write_text(manifest)
        for program, error in programs.items() if CARGO_WASM else ():
            code = f"let cells = [Cell::new(0f32)]; let written = Cell::new(0u32); {program}"
            (package / "src" / "lib.rs").write_text(
                f"use std::cell::Cell;\npub fn on(mut context: wasinn_guest::WritingContext<'_>) {{ {code} }}\n"
            )
            with self.assertRaisesRegex(AssertionError, rf"error\[{error}\]"):
                run(CARGO_WASM, "check", "--quiet", "--target-dir", self.dir / "cargo", cwd=package)

    def test_the_bench_goes_along_when_asked_for(self):
        prefix = self.dir / "with-bench"
        run(CMAKE, "--install", BUILD, "--prefix", prefix, cwd=self.dir)
        parts = [path for folder in ("bin", "lib") for path in (prefix / folder).rglob("*")]
        self.assertGreater(len(parts), 20)
        self.assertEqual([path for path in parts if "bench" in path.name or "count_allocations" in path.name], [])
        env = {"LD_LIBRARY_PATH": "", "HOME": str(self.dir)}
        bench = "bin/wasinn", "bench", "--iterations", "5", "--json", MODEL
        with self.assertRaisesRegex(AssertionError, "--component bench"):
            run(prefix / bench[0], *bench[1:], cwd=self.dir, env=env)
        run(CMAKE, "--install", BUILD, "--prefix", prefix, "--component", "bench", cwd=self.dir)
        self.check_runpaths(prefix)
        prefix = prefix.rename(self.dir / "bench-moved")
        report = json.loads(run(prefix / bench[0], *bench[1:], cwd=self.dir, env=env))
        self.assertTrue(report["outputs_equal"])
        self.assertIsNotNone(report["allocations"])

    def build_the_template(self):
        """backends/template as somebody copies it: outside of wasinn's tree, with what is installed."""
        source = self.dir / "my-backend"
        if not source.exists():
            shutil.copytree(next(self.prefix.glob("share/wasinn/backend/template")), source)
        build = self.build_by_cmake(source, "my-backend-build")
        (self.dir / "m.affine").write_bytes(b"AFF1" + struct.pack("<2fI", 2, 0.5, 3))
        (self.dir / "backends.toml").write_text(f"backend_dirs = ['{build}']\n[backends.template]\n")
        return build / "libwasinn_backend_template.so"

    def test_a_backend_of_ones_own(self):
        library = self.build_the_template()
        exported = run("nm", "--dynamic", "--defined-only", "--extern-only", library, cwd=self.dir)
        self.assertEqual([line.split()[-1] for line in exported.splitlines()], ["wasinn_backend_query"])
        env = {"LD_LIBRARY_PATH": "", "HOME": str(self.dir)}
        command = [next(self.prefix.glob("bin/wasinn"))]
        settings = ["--config", "backends.toml"]
        self.assertIn("affine", run(*command, "backends", *settings, cwd=self.dir, env=env))
        shown = run(*command, "inspect", *settings, "m.affine", cwd=self.dir, env=env)
        self.assertTrue(shown.startswith("m.affine (affine)"), shown)
        run(*command, "run", *settings, "--model", "m=m.affine", "affine.wat", cwd=self.dir, env=env)
        (self.dir / "plain").write_bytes((self.dir / "m.affine").read_bytes())
        run(*command, "run", *settings, "--model", "m=plain,encoding=Affine", "affine.wat", cwd=self.dir, env=env)
        with self.assertRaisesRegex(AssertionError, "unknown encoding 'affin'; known are onnx, .*, affine"):
            run(*command, "run", *settings, "--model", "m=plain,encoding=affin", "affine.wat", cwd=self.dir, env=env)

    def test_nothing_installed_looks_in_the_working_folder(self):
        self.assertGreaterEqual(self.check_runpaths(self.prefix), 3)

    def check_runpaths(self, prefix):
        checked = 0
        for path in prefix.rglob("*"):
            if path.is_symlink() or not path.is_file() or path.read_bytes()[:4] != b"\x7fELF":
                continue
            dynamic = run("readelf", "--dynamic", "--wide", path, cwd=self.dir)
            for runpath in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic):
                for part in runpath.split(":"):
                    self.assertRegex(part, r"^(\$ORIGIN|/)", f"{path}: {runpath}")
                    self.assertNotIn(BUILD, part, path)
                checked += 1
        return checked

    def test_frameworks_that_go_along(self):
        prefix = self.dir / "with-frameworks"
        run(CMAKE, "--install", BUILD, "--prefix", prefix, cwd=self.dir)
        models = {"tflite": "digits.tflite", "openvino": "digits.xml", "llama": "tiny.gguf"}
        env = {"LD_LIBRARY_PATH": "", "HOME": str(self.dir)}
        for framework in os.environ["FRAMEWORKS"].split():
            inspect = "bin/wasinn", "inspect", SOURCE / "models" / models[framework]
            hint = "--component tflite" if framework == "tflite" else f"pip install --target '{prefix}/.*/frameworks' '{framework}"
            with self.assertRaisesRegex(AssertionError, hint):
                run(prefix / inspect[0], *inspect[1:], cwd=self.dir, env=env)
            run(CMAKE, "--install", BUILD, "--prefix", prefix, "--component", framework, cwd=self.dir)
            prefix = prefix.rename(self.dir / f"with-{framework}")
            self.assertIn("input", run(prefix / inspect[0], *inspect[1:], cwd=self.dir, env=env))
        self.assertIn("image", run(prefix / "bin" / "wasinn", "inspect", MODEL, cwd=self.dir, env=env))

    def test_guest_headers(self):
        names = {path.name for path in (self.prefix / "include" / "wasinn-guest").iterdir()}
        headers = {"wasi_nn.h", "wasi_nn_ext.h", "wasi_nn.hpp", "wasi_nn_ext.hpp", "wasi_nn_component.h", "wasi_nn_wamr.h"}
        self.assertEqual(names, headers | {"wasi_nn_component_start.c", "wit", "rust", "go"})


class WamrTest(Installed):
    """Needs WAMR and a compiler for guests."""

    def check_wamr_example(self, program):
        guest = self.dir / "wamr-example" / "guest.wasm"
        include = next(self.prefix.glob("include/wasinn-guest"))
        flags = ["--target=wasm32-wasi", "-nostdlib", "-O2", "-Wl,--no-entry", f"-I{include}"]
        run(CLANG, *flags, "wamr-example/guest.c", "-o", guest, cwd=self.dir)
        out = run(program, MODEL, guest, cwd=self.dir, env={"LD_LIBRARY_PATH": f"{self.library_path()}:{WAMR_LIB}"})
        self.assertEqual(sorted(out.splitlines()), ["guest 0 sees a 5", "guest 1 sees a 7"])

    def test_the_wamr_example_by_cmake(self):
        prefixes = f"{self.prefix};{pathlib.Path(WAMR_LIB).parent}"
        run(CMAKE, "-G", "Ninja", "-S", "wamr-example", "-B", "wamr", f"-DCMAKE_PREFIX_PATH={prefixes}", cwd=self.dir)
        run(CMAKE, "--build", "wamr", cwd=self.dir)
        self.check_wamr_example(self.dir / "wamr" / "embed-wamr")

    def test_the_wamr_example_by_pkg_config(self):
        flags = self.pkg_config("wasinn-wamr", "--cflags", "--libs")
        strict = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
        wamr = [f"-isystem{WAMR_INCLUDE}", f"-L{WAMR_LIB}"]
        run(CXX, *strict, "wamr-example/main.cc", "-o", "wamr-pc", *wamr, *flags, "-pthread", cwd=self.dir)
        self.check_wamr_example(self.dir / "wamr-pc")

    def test_the_wamr_adapter_from_its_source(self):
        sources = sorted((self.prefix / "share" / "wasinn" / "engines" / "wamr").glob("*.cc"))
        flags = self.pkg_config("wasinn", "--cflags", "--libs")
        command = [CXX, "-std=c++20", "wamr-example/main.cc", *sources, "-o", "wamr-source", f"-isystem{WAMR_INCLUDE}"]
        run(*command, f"-L{WAMR_LIB}", *flags, "-liwasm", "-pthread", cwd=self.dir)
        self.check_wamr_example(self.dir / "wamr-source")


class WasmEdgeTest(Installed):
    """Needs WasmEdge and a compiler for guests."""

    def run_with_wasmedge(self, program, *args):
        command = [WASMEDGE_RUN, program] if WASMEDGE_RUN else [program]
        path = self.library_path() if WASMEDGE_RUN else f"{self.library_path()}:{WASMEDGE_LIB}"
        return run(*command, *args, cwd=self.dir, env={"LD_LIBRARY_PATH": path})

    def wasmedge_guest(self):
        guest = self.dir / "wasmedge-example" / "guest.wasm"
        include = next(self.prefix.glob("include/wasinn-guest"))
        flags = ["--target=wasm32-wasi", "-nostdlib", "-O2", "-Wl,--no-entry", f"-I{include}"]
        run(CLANG, *flags, "wasmedge-example/guest.c", "-o", guest, cwd=self.dir)
        return guest

    def check_wasmedge_example(self, program):
        out = self.run_with_wasmedge(program, MODEL, self.wasmedge_guest())
        self.assertEqual(sorted(out.splitlines()), ["guest 0 sees a 5", "guest 1 sees a 7"])

    def test_the_wasmedge_example_by_cmake(self):
        prefixes = f"{self.prefix};{pathlib.Path(WASMEDGE_LIB).parent}"
        run(CMAKE, "-G", "Ninja", "-S", "wasmedge-example", "-B", "wasmedge", f"-DCMAKE_PREFIX_PATH={prefixes}", cwd=self.dir)
        run(CMAKE, "--build", "wasmedge", cwd=self.dir)
        self.check_wasmedge_example(self.dir / "wasmedge" / "embed-wasmedge")

    def wasmedge_libs(self):
        # Of that folder the library alone, for it may have a newer system's C library too, whose symbols this one lacks.
        lib = self.dir / "wasmedge-lib"
        lib.mkdir(exist_ok=True)
        if not (lib / "libwasmedge.so").exists():
            (lib / "libwasmedge.so").symlink_to(pathlib.Path(WASMEDGE_LIB) / "libwasmedge.so")
        return [f"-isystem{WASMEDGE_INCLUDE}", f"-L{lib}"] + (["-Wl,--allow-shlib-undefined"] if WASMEDGE_RUN else [])

    def test_the_wasmedge_example_by_pkg_config(self):
        flags = self.pkg_config("wasinn-wasmedge", "--cflags", "--libs")
        strict = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
        sources = ["wasmedge-example/main.cc"]
        run(CXX, *strict, *sources, "-o", "wasmedge-pc", *self.wasmedge_libs(), *flags, "-pthread", cwd=self.dir)
        self.check_wasmedge_example(self.dir / "wasmedge-pc")

    def test_the_installed_plugin_in_virtual_machines(self):
        strict = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
        run(CC, *strict, "wasmedge_vm.c", "-o", "wasmedge-vm", *self.wasmedge_libs(), "-lwasmedge", cwd=self.dir)
        plugins = next(self.prefix.glob("lib*/**/libwasmedgePluginWasiNN.so")).parent
        preloads = [f"other:onnx:cpu:{MODEL}", f"digits:onnx:cpu:{MODEL}"]
        out = self.run_with_wasmedge(self.dir / "wasmedge-vm", plugins, self.wasmedge_guest(), *preloads)
        self.assertEqual(out.splitlines(), ["5 7", "5", "7"])

    def test_the_wasmedge_adapter_from_its_source(self):
        sources = sorted((self.prefix / "share" / "wasinn" / "engines" / "wasmedge").glob("*.cc"))
        flags = self.pkg_config("wasinn", "--cflags", "--libs")
        command = [CXX, "-std=c++20", "wasmedge-example/main.cc", *sources, "-o", "wasmedge-source", *self.wasmedge_libs()]
        run(*command, *flags, "-lwasmedge", "-pthread", cwd=self.dir)
        self.check_wasmedge_example(self.dir / "wasmedge-source")


class ComponentsTest(Installed):
    """Needs a Wasmtime that serves wasi:nn to components."""

    def test_components_in_a_program_that_is_not_position_independent(self):
        # There the address of a library's function is one in the program.
        sources = sorted((self.prefix / "share" / "wasinn" / "engines" / "wasmtime").glob("*.cc"))
        flags = self.pkg_config("wasinn", "--cflags", "--libs")
        command = [CXX, "-std=c++17", "-fno-pie", "-no-pie", "component-example/main.cc", *sources, "-o", "without-pie"]
        run(*command, f"-isystem{WASMTIME_INCLUDE}", f"-L{WASMTIME_LIB}", *flags, "-lwasmtime", "-pthread", cwd=self.dir)
        self.check_example(self.dir / "without-pie", "component-example")
