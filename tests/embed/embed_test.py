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


STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]


class Installed(unittest.TestCase):
    """A prefix, and programs that use it."""

    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="wasinn-embed-"))
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        run(CMAKE, "--install", BUILD, "--prefix", cls.dir / "installed", cwd=cls.dir)
        # A prefix may be moved.
        cls.prefix = (cls.dir / "installed").rename(cls.dir / "prefix")
        for example in (SOURCE / "examples").glob("embed-*"):
            shutil.copytree(example, cls.dir / example.name)
        for path in [*HERE.glob("*.c*"), *HERE.glob("*.wat")]:
            shutil.copy(path, cls.dir)

    def installed(self, command, *words, prefix=None, env=None):
        return run((prefix or self.prefix) / "bin" / command, *words, cwd=self.dir, env=env or {"LD_LIBRARY_PATH": "", "HOME": str(self.dir)})

    def pkg_config(self, package, *flags):
        env = {"PKG_CONFIG_PATH": str(next(self.prefix.glob("lib*/**/pkgconfig")))}
        return shlex.split(run("pkg-config", *(flags or ("--cflags", "--libs")), package, cwd=self.dir, env=env))

    def library_path(self):
        return f"{next(self.prefix.glob('lib*/**/libwasinn.so')).parent}:{WASMTIME_LIB}"

    def build_by_cmake(self, source, *prefixes):
        path = ";".join(map(str, (self.prefix, *prefixes)))
        run(CMAKE, "-G", "Ninja", "-S", source, "-B", f"{source}-build", f"-DCMAKE_PREFIX_PATH={path}", cwd=self.dir)
        run(CMAKE, "--build", f"{source}-build", cwd=self.dir)
        return self.dir / f"{source}-build"


class ExampleTest(Installed):
    """The example of an engine, built in each way in which others find the library."""

    ENGINE = "wasmtime"
    ADAPTER = "-std=c++17"  # the standard that the adapter's source needs
    PREFIXES = [pathlib.Path(WASMTIME_INCLUDE).parent, pathlib.Path(WASMTIME_LIB).parent]

    def engine(self):
        """For the compiler."""
        return [f"-isystem{WASMTIME_INCLUDE}", f"-L{WASMTIME_LIB}"]

    def guest(self):
        return self.dir / f"embed-{self.ENGINE}" / "guest.wat"

    def compiled_guest(self):
        guest = self.dir / f"embed-{self.ENGINE}" / "guest.wasm"
        flags = ["--target=wasm32-wasi", "-nostdlib", "-O2", "-Wl,--no-entry", f"-I{next(self.prefix.glob('include/wasinn-guest'))}"]
        run(CLANG, *flags, guest.with_suffix(".c"), "-o", guest, cwd=self.dir)
        return guest

    def run_program(self, program, *args):
        return run(program, *args, cwd=self.dir, env={"LD_LIBRARY_PATH": self.library_path()})

    def check_example(self, program, guest=None):
        out = self.run_program(program, MODEL, guest or self.guest())
        self.assertEqual(sorted(out.splitlines()), ["guest 0 sees a 5", "guest 1 sees a 7"])

    def sources(self):
        return sorted((self.prefix / "share/wasinn/engines" / self.ENGINE).glob("*.cc"))

    def test_by_cmake(self):
        self.check_example(self.build_by_cmake(f"embed-{self.ENGINE}", *self.PREFIXES) / f"embed-{self.ENGINE}")

    def test_by_pkg_config(self):
        flags = [*self.engine(), *self.pkg_config(f"wasinn-{self.ENGINE}"), "-pthread"]
        run(CXX, "-std=c++17", *STRICT, f"embed-{self.ENGINE}/main.cc", "-o", "by-pkg-config", *flags, cwd=self.dir)
        self.check_example(self.dir / "by-pkg-config")

    def test_the_adapter_from_its_source(self):
        library = {"wamr": "iwasm"}.get(self.ENGINE, self.ENGINE)
        flags = [*self.engine(), *self.pkg_config("wasinn"), f"-l{library}", "-pthread"]
        run(CXX, self.ADAPTER, f"embed-{self.ENGINE}/main.cc", *self.sources(), "-o", "by-source", *flags, cwd=self.dir)
        self.check_example(self.dir / "by-source")


class EmbedTest(ExampleTest):
    def test_the_async_example(self):
        program = self.build_by_cmake("embed-async", *self.PREFIXES) / "embed-async"
        self.assertEqual(self.run_program(program, MODEL, self.dir / "embed-async" / "guest.wat", 50, 20), "50 guests see a 5\n")

    def test_the_component_example(self):
        program = self.build_by_cmake("embed-component", *self.PREFIXES) / "embed-component"
        guest = self.dir / "embed-component" / "guest.wat"
        if SERVES_COMPONENTS:
            self.check_example(program, guest)
        else:  # it builds, and says what is missing
            with self.assertRaisesRegex(AssertionError, "scripts/deps.sh wasmtime-component"):
                self.check_example(program, guest)

    def test_a_missing_component_is_an_error(self):
        (self.dir / "missing").mkdir()
        (self.dir / "missing" / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\n"
            "project(x LANGUAGES CXX)\n"
            "find_package(wasinn REQUIRED COMPONENTS moon)\n"
        )
        with self.assertRaisesRegex(AssertionError, "built without the component\\s+'moon'"):
            run(CMAKE, "-G", "Ninja", "-S", "missing", "-B", "missing/build", f"-DCMAKE_PREFIX_PATH={self.prefix}", cwd=self.dir)

    def test_programs_in_c_and_cpp(self):
        for command, source, package, args, says in (
            ([CC, "-std=c11"], "c_program.c", "wasinn-wasmtime", [], "linked, then refused: invalid_argument\n"),
            ([CXX, "-std=c++17", "-fno-exceptions", "-fno-rtti"], "cpp_program.cc", "wasinn", [MODEL], "all checks passed\n"),
        ):
            with self.subTest(source):
                run(*command, *STRICT, source, "-o", "program", *self.engine(), *self.pkg_config(package), cwd=self.dir)
                self.assertTrue(self.run_program("./program", *args).endswith(says))

    def test_every_header_compiles_alone_in_c_and_cpp(self):
        includes = [WASMTIME_INCLUDE, *([WAMR_INCLUDE] if WAMR_LIB else []), *([WASMEDGE_INCLUDE] if WASMEDGE_LIB else [])]
        flags = [*self.pkg_config("wasinn", "--cflags"), *(f"-isystem{include}" for include in includes), *STRICT]
        headers = sorted((self.prefix / "include" / "wasinn").iterdir())
        self.assertGreaterEqual(len(headers), 5)
        for header in headers:
            if (header.stem == "wamr" and not WAMR_LIB) or (header.stem == "wasmedge" and not WASMEDGE_LIB):
                continue
            text = f"#include <wasinn/{header.name}>\n#include <wasinn/{header.name}>\n"
            (self.dir / "header.cc").write_text(text)
            run(CXX, "-std=c++17", "-fsyntax-only", *flags, "header.cc", cwd=self.dir)
            if header.suffix == ".h":
                (self.dir / "header.c").write_text(text)
                run(CC, "-std=c11", "-fsyntax-only", *flags, "header.c", cwd=self.dir)

    def test_the_installed_command(self):
        self.assertRegex(self.installed("wasinn", "--version"), r"^wasinn \d")
        self.assertIn("image", self.installed("wasinn", "inspect", MODEL))
        (self.dir / "guest.wat").write_text('(module (func (export "_start")))')
        self.installed("wasinn", "run", "guest.wat")

    def test_what_guests_in_rust_and_go_include(self):
        include, guests = self.prefix / "include" / "wasinn-guest", []
        if CARGO_WASM:
            package = ["--manifest-path", include / "rust" / "Cargo.toml", "--target-dir", self.dir / "cargo"]
            run(CARGO_WASM, "build", "--release", "--quiet", *package, "--example", "digits", cwd=self.dir)
            guests.append(self.dir / "cargo" / "wasm32-wasip1" / "release" / "examples" / "digits.wasm")
        if GO_WASM:
            guests.append(self.dir / "digits-go.wasm")
            cache = {"GOCACHE": os.environ["GO_CACHE"]}
            run(GO_WASM, "build", "-buildvcs=false", "-o", guests[-1], "./examples/digits", cwd=include / "go", env=cache)
        for guest in guests:
            out = self.installed("wasinn", "run", "--model", f"digits={MODEL}", guest)
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
        bench = "wasinn", "bench", "--iterations", "5", "--json", MODEL
        with self.assertRaisesRegex(AssertionError, "--component bench"):
            self.installed(*bench, prefix=prefix)
        run(CMAKE, "--install", BUILD, "--prefix", prefix, "--component", "bench", cwd=self.dir)
        self.check_runpaths(prefix)
        prefix = prefix.rename(self.dir / "bench-moved")
        report = json.loads(self.installed(*bench, prefix=prefix))
        self.assertTrue(report["outputs_equal"])
        self.assertIsNotNone(report["allocations"])

    def test_a_backend_of_ones_own(self):
        """A copy of backends/template, outside of wasinn's tree, with the installed files."""
        shutil.copytree(next(self.prefix.glob("share/wasinn/backend/template")), self.dir / "my-backend")
        build = self.build_by_cmake("my-backend")
        for name in ("m.affine", "plain"):
            (self.dir / name).write_bytes(b"AFF1" + struct.pack("<2fI", 2, 0.5, 3))
        (self.dir / "backends.toml").write_text(f"backend_dirs = ['{build}']\n[backends.template]\n")
        exported = run("nm", "--dynamic", "--defined-only", "--extern-only", build / "libwasinn_backend_template.so", cwd=self.dir)
        self.assertEqual([line.split()[-1] for line in exported.splitlines()], ["wasinn_backend_query"])
        settings = ["--config", "backends.toml"]
        self.assertIn("affine", self.installed("wasinn", "backends", *settings))
        self.assertTrue(self.installed("wasinn", "inspect", *settings, "m.affine").startswith("m.affine (affine)"))
        for model in ("m.affine", "plain,encoding=Affine"):
            self.installed("wasinn", "run", *settings, "--model", f"m={model}", "affine.wat")
        with self.assertRaisesRegex(AssertionError, "unknown encoding 'affin'; known are onnx, .*, affine"):
            self.installed("wasinn", "run", *settings, "--model", "m=plain,encoding=affin", "affine.wat")

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
        for framework in os.environ["FRAMEWORKS"].split():
            inspect = "wasinn", "inspect", SOURCE / "models" / models[framework]
            hint = "--component tflite" if framework == "tflite" else f"pip install --target '{prefix}/.*/frameworks' '{framework}"
            with self.assertRaisesRegex(AssertionError, hint):
                self.installed(*inspect, prefix=prefix)
            run(CMAKE, "--install", BUILD, "--prefix", prefix, "--component", framework, cwd=self.dir)
            prefix = prefix.rename(self.dir / f"with-{framework}")
            self.assertIn("input", self.installed(*inspect, prefix=prefix))
        self.assertIn("image", self.installed("wasinn", "inspect", MODEL, prefix=prefix))

    def test_guest_headers(self):
        names = {path.name for path in (self.prefix / "include" / "wasinn-guest").iterdir()}
        headers = {"wasi_nn.h", "wasi_nn_ext.h", "wasi_nn.hpp", "wasi_nn_ext.hpp", "wasi_nn_component.h", "wasi_nn_wamr.h"}
        self.assertEqual(names, headers | {"wasi_nn_component_start.c", "wit", "rust", "go", "zig", "assemblyscript"})


class WamrTest(ExampleTest):
    """Needs WAMR and a compiler for guests."""

    ENGINE, ADAPTER, PREFIXES = "wamr", "-std=c++20", [pathlib.Path(WAMR_LIB).parent]

    def guest(self):
        return self.compiled_guest()

    def engine(self):
        return [f"-isystem{WAMR_INCLUDE}", f"-L{WAMR_LIB}"]

    def library_path(self):
        return f"{super().library_path()}:{WAMR_LIB}"


class WasmEdgeTest(ExampleTest):
    """Needs WasmEdge and a compiler for guests."""

    ENGINE, ADAPTER, PREFIXES = "wasmedge", "-std=c++20", [pathlib.Path(WASMEDGE_LIB).parent]

    def guest(self):
        return self.compiled_guest()

    def run_program(self, program, *args):
        command = [WASMEDGE_RUN, program] if WASMEDGE_RUN else [program]
        path = self.library_path() if WASMEDGE_RUN else f"{self.library_path()}:{WASMEDGE_LIB}"
        return run(*command, *args, cwd=self.dir, env={"LD_LIBRARY_PATH": path})

    def engine(self):
        # Only the library of that folder, which may have a newer system's C library, too, whose symbols this one lacks.
        lib = self.dir / "wasmedge-lib"
        lib.mkdir(exist_ok=True)
        if not (lib / "libwasmedge.so").exists():
            (lib / "libwasmedge.so").symlink_to(pathlib.Path(WASMEDGE_LIB) / "libwasmedge.so")
        return [f"-isystem{WASMEDGE_INCLUDE}", f"-L{lib}"] + (["-Wl,--allow-shlib-undefined"] if WASMEDGE_RUN else [])

    def test_the_installed_plugin_in_virtual_machines(self):
        run(CC, "-std=c11", *STRICT, "wasmedge_vm.c", "-o", "wasmedge-vm", *self.engine(), "-lwasmedge", cwd=self.dir)
        plugins = next(self.prefix.glob("lib*/**/libwasmedgePluginWasiNN.so")).parent
        preloads = [f"other:onnx:cpu:{MODEL}", f"digits:onnx:cpu:{MODEL}"]
        self.assertEqual(self.run_program(self.dir / "wasmedge-vm", plugins, self.guest(), *preloads).splitlines(), ["5 7", "5", "7"])


class ComponentsTest(Installed):
    """Needs a Wasmtime that serves wasi:nn to components."""

    def test_components_in_a_program_that_is_not_position_independent(self):
        # There the address of a library's function is one in the program.
        sources = sorted((self.prefix / "share/wasinn/engines/wasmtime").glob("*.cc"))
        flags = [f"-isystem{WASMTIME_INCLUDE}", f"-L{WASMTIME_LIB}", *self.pkg_config("wasinn"), "-lwasmtime", "-pthread"]
        run(CXX, "-std=c++17", "-fno-pie", "-no-pie", "embed-component/main.cc", *sources, "-o", "without-pie", *flags, cwd=self.dir)
        out = run(self.dir / "without-pie", MODEL, self.dir / "embed-component/guest.wat", cwd=self.dir, env={"LD_LIBRARY_PATH": self.library_path()})
        self.assertEqual(sorted(out.splitlines()), ["guest 0 sees a 5", "guest 1 sees a 7"])
