"""wasi-nn as a plugin of WasmEdge: how it is loaded, its option, its settings, and how it ends."""

import os
import pathlib
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ["WASINN_SOURCE"])
BUILD = pathlib.Path(os.environ["WASINN_BUILD"])
PLUGINS = BUILD / "lib" / "wasmedge"
STANDARD = PLUGINS / "libwasmedgePluginWasiNN.so"
DIGITS = f"{SOURCE}/models/digits.onnx"
ENDLESS = f"{SOURCE}/tests/models/tiny/endless.onnx"
NOT_OURS = ("WASINN_CONFIG", "WASINN_ENGINE", "WASINN_MODELS")


def wasmedge(*words, plugins=PLUGINS, **env):
    env = {**{name: value for name, value in os.environ.items() if name not in NOT_OURS}, **env}
    env["WASMEDGE_PLUGIN_PATH"] = str(plugins)
    command = [os.environ["WASMEDGE"], *(str(word) for word in words)]
    return subprocess.run(command, env=env, capture_output=True, text=True)


def guest(name):
    return BUILD / "guests" / f"{name}.wasm"


class WasmEdgePluginTest(unittest.TestCase):
    def load(self, options, names, **env):
        """Loads models by their names. What each came to, but for the honest inference at the end."""
        done = wasmedge(*options, guest("hostile-load_named"), *names, **env)
        self.assertEqual(done.returncode, 0, done)
        lines = [line.split(": ") for line in done.stdout.splitlines()]
        return {line[0]: line[1] for line in lines if line[0] in names}

    def test_wasmedge_lists_it_and_its_option(self):
        listed = wasmedge("--version").stdout
        self.assertIn(f'{STANDARD} (plugin "wasi_nn")', listed)
        self.assertIn('(plugin "wasinn")', listed)
        self.assertIn("NAME:ENCODING:TARGET:PATH", wasmedge("--help").stdout)

    def test_it_shows_what_wasmedge_needs_alone(self):
        for library in PLUGINS.glob("*.so"):
            symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
            names = {line.split()[-1] for line in symbols.stdout.splitlines()}
            self.assertLessEqual(names, {"WasmEdge_Plugin_GetDescriptor", "wasinn_wasmedge_other_modules"})
            flags = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
            self.assertIn("NODELETE", flags)

    def test_several_preloads(self):
        digits, other = f"digits:onnx:cpu:{DIGITS}", f"other:ONNX:CPU:{DIGITS}"
        for options in (
            ["--nn-preload", digits, "--nn-preload", other],
            ["run", "--nn-preload=" + digits, "--env", "A=B", "--enable-threads", "--nn-preload", other],
        ):
            self.assertEqual(self.load(options, ["digits", "other"]), {"digits": "success", "other": "success"})

    def test_the_guests_arguments_name_no_models(self):
        names = ["other", "--nn-preload", f"other:onnx:cpu:{DIGITS}", f"--nn-preload=other:onnx:cpu:{DIGITS}"]
        got = self.load(["--nn-preload", f"digits:onnx:cpu:{DIGITS}"], names)
        self.assertEqual(got["other"], "not_found")

    def test_models_of_the_option_and_of_the_environment(self):
        options = ["--nn-preload", f"digits:onnx:cpu:{DIGITS}"]
        got = self.load(options, ["digits", "other", "none"], WASINN_MODELS=f"other={DIGITS}")
        self.assertEqual(got, {"digits": "success", "other": "success", "none": "not_found"})

    def test_wrong_settings_are_reported_once_and_do_not_affect_other_guests(self):
        for options, env, why in (
            (["--nn-preload", "digits"], {}, "--nn-preload: 'digits' is not NAME:ENCODING:TARGET:PATH"),
            (["--nn-preload", "m:fish:cpu:x"], {}, "fish"),
            (["--nn-preload", "m:onnx:cpu:/nowhere"], {}, "/nowhere does not exist"),
            ([], {"WASINN_NN_TIMEOUT": "soon"}, "WASINN_NN_TIMEOUT: 'soon'"),
            ([], {"WASINN_CONFIG": "/nowhere.toml"}, "/nowhere.toml"),
        ):
            done = wasmedge(*options, guest("classify"), **env)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn(why, done.stderr)
            self.assertEqual(done.stderr.count("wasinn: error: "), 1, done.stderr)
            self.assertIn("unknown import", done.stdout)

    def test_the_standards_module_without_the_others(self):
        image = f"{SOURCE}/examples/classify/images"
        done = wasmedge("--dir", f"/images:{image}", guest("classify"), "--raw", "/images/0002_label-2.png",
                        plugins=STANDARD, WASINN_MODELS=f"digits={DIGITS}")
        self.assertEqual(done.returncode, 0, done)
        self.assertTrue(done.stdout)

    def test_a_guest_that_wasmedge_stops_while_it_computes(self):
        """WasmEdge does not report it: the compute's deadline is the end."""
        done, limit = None, 250
        while done is None or "computing" not in done.stdout:  # on a busy machine it takes longer until it computes
            limit *= 2
            done = wasmedge("--time-limit", limit, guest("hostile-endless"), WASINN_NN_TIMEOUT=f"{4 * limit}ms",
                            WASINN_MODELS=f"digits={DIGITS};endless={ENDLESS}")
        self.assertIn(f"stopped after {4 * limit} ms", done.stderr)
        self.assertNotIn("output", done.stdout)
