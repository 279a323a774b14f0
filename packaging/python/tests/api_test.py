"""The package `wasinn`, from Python."""

import array
import gc
import logging
import subprocess
import sys
import threading
import unittest
from unittest import mock

import wasinn
from wasinn import _wire, command
from surroundings import DIGITS, GUESTS, IMAGES, MODELS, InstalledTest

ONNX = DIGITS["onnx"]


def image(value=0.0):
    return wasinn.Tensor("f32", (1, 1, 8, 8), array.array("f", [value] * 64).tobytes())


def probabilities(outputs):
    return outputs["probabilities"].tolist()[0]


class HostTest(InstalledTest):
    def setUp(self):
        super().setUp()
        logging.getLogger("wasinn").addHandler(logging.NullHandler())
        self.host = wasinn.Host()
        self.addCleanup(self.host.close)
        self.host.add_model("digits", ONNX)

    def test_each_framework_computes(self):
        for backend, model in DIGITS.items():
            self.host.add_model(backend, model)
            with self.host.guest() as guest, guest.load_by_name(backend) as graph:
                outputs = graph.compute({"0": image()})
                (tensor,) = outputs.values()
                self.assertEqual((backend, tensor.dtype, tensor.shape), (backend, "f32", (1, 10)))
                self.assertAlmostEqual(sum(tensor.tolist()[0]), 1, places=5)

    def test_a_context_is_used_again(self):
        with self.host.guest() as guest, guest.load_by_name("digits") as graph, graph.context() as context:
            first = probabilities(context.compute({"image": image(1)}))
            self.assertNotEqual(probabilities(context.compute({"image": image(2)})), first)
            self.assertEqual(probabilities(context.compute({"image": image(1)})), first)
            self.assertEqual(guest.statistics()["computes"], 3)

    def test_outputs_are_selected(self):
        with self.host.guest() as guest, guest.load_by_name("digits") as graph, graph.context() as context:
            context.select_outputs("probabilities")
            self.assertEqual(list(context.compute({"image": image()})), ["probabilities"])
            with self.assertRaisesRegex(wasinn.Error, "'scores'"):
                context.select_outputs("scores")
            context.select_outputs()
            self.assertEqual(list(context.compute({"image": image()})), ["probabilities"])

    def test_what_nobody_closes_is_freed(self):
        guest = wasinn.Host({"models": {"digits": {"path": ONNX}}}).guest()
        context = guest.load_by_name("digits").context()  # of a host and a graph without other references
        gc.collect()
        self.assertEqual(
            probabilities(context.compute({"image": image(1)})), probabilities(context.compute({"image": image(1)}))
        )
        self.assertEqual((guest.statistics()["graphs"], guest.statistics()["contexts"]), (1, 1))
        del context
        self.assertEqual((guest.statistics()["graphs"], guest.statistics()["contexts"]), (0, 0))

    def test_all_names_are_there(self):
        for name in wasinn.__all__:
            self.assertIsNotNone(getattr(wasinn, name))
        with self.assertRaisesRegex(AttributeError, "no attribute 'host_'"):
            wasinn.host_  # noqa: B018

    def test_bytes_are_loaded_in_a_worker(self):
        with self.host.guest() as guest, guest.load(ONNX.read_bytes(), "onnx") as graph:
            self.assertEqual(graph.description["backend"], "onnx")
            isolated = probabilities(graph.compute({"image": image(1)}))
            with guest.load_by_name("digits") as named:
                self.assertEqual(probabilities(named.compute({"image": image(1)})), isolated)

    def test_models_are_bytes_too(self):
        self.host.add_model("bytes", ONNX.read_bytes(), encoding="onnx", version=3)
        self.host.add_model(
            "parts", [(MODELS / "digits.xml").read_bytes(), (MODELS / "digits.bin").read_bytes()], encoding="openvino"
        )
        models = {model.name: model for model in self.host.models()}
        self.assertEqual(list(models), ["bytes", "digits", "parts"])
        self.assertEqual(
            (models["bytes"].version, models["bytes"].encoding, models["bytes"].loaded), (3, "onnx", False)
        )
        self.host.remove_model("parts")
        self.assertEqual(len(self.host.models()), 2)

    def test_signatures(self):
        signature = self.host.inspect("digits")
        self.assertEqual(signature.inputs, (wasinn.Io("image", "f32", (-1, 1, 8, 8)),))
        self.assertEqual(signature.outputs, (wasinn.Io("probabilities", "f32", (-1, 10)),))

    def test_errors_have_code_message_and_backend(self):
        with self.host.guest() as guest, guest.load_by_name("digits") as graph:
            for compute, code, text in (
                (
                    lambda: graph.compute({"image": image().data}),
                    "invalid_argument",
                    "takes f32 [?, 1, 8, 8], given u8 [256]",
                ),
                (lambda: graph.compute({"picture": image()}), "invalid_argument", "no input 'picture', only 'image'"),
                (lambda: guest.load_by_name("letters"), "not_found", "no model is registered as 'letters'"),
                (lambda: guest.load(b"nothing", "onyx"), "invalid_encoding", "onnx"),
                (lambda: self.host.add_model("gone", self.dir / "none.onnx", preload=True), "not_found", "none.onnx"),
            ):
                with self.assertRaisesRegex(wasinn.Error, "") as raised:
                    compute()
                self.assertEqual(raised.exception.code, code, raised.exception)
                self.assertIn(text, raised.exception.message)
            self.assertEqual(guest.statistics()["tensors"], 0)

    def test_what_is_no_tensor_is_refused(self):
        with self.host.guest() as guest, guest.load_by_name("digits") as graph:
            with self.assertRaisesRegex(TypeError, "found list"):
                graph.compute({"a": image(), "image": [1.0, 2.0]})
            self.assertEqual(guest.statistics()["tensors"], 0)

    def test_what_is_closed_is_refused(self):
        with self.host.guest() as guest:
            graph = guest.load_by_name("digits")
            context = graph.context()
            graph.close()
            with self.assertRaisesRegex(ValueError, "the graph is closed"):
                graph.context()
            context.compute({"image": image()})
            context.close()
            with self.assertRaisesRegex(ValueError, "the context is closed"):
                context.compute({"image": image()})
            self.assertEqual(guest.statistics()["tensors"], 0)
            context = guest.load_by_name("digits").context()
            with self.assertRaises(UnicodeEncodeError):
                context.compute({"\ud800": image()})
            self.assertEqual(guest.statistics()["tensors"], 0)
        with self.assertRaisesRegex(wasinn.Error, "closed"):
            context.compute({"image": image()})
        self.host.close()
        with self.assertRaisesRegex(ValueError, "the host is closed"):
            self.host.models()

    def test_guests_have_limits_and_a_policy(self):
        with self.host.guest(
            limits={"max_graphs": 1}, policy={"load": "deny", "models": ["digits"], "targets": ["cpu"]}
        ) as guest:
            with self.assertRaisesRegex(wasinn.Error, "security"):
                guest.load(ONNX.read_bytes(), "onnx")
            with guest.load_by_name("digits"), self.assertRaisesRegex(wasinn.Error, "too_large.*max_graphs"):
                guest.load_by_name("digits")
            guest.load_by_name("digits")
        for wrong in ({"limits": {"max_graph": 1}}, {"policy": {"lode": "deny"}}, {"policy": {"load": "never"}}):
            with self.assertRaises(ValueError):
                self.host.guest(**wrong)

    def test_guests_on_many_threads(self):
        def work():
            with self.host.guest() as guest, guest.load_by_name("digits") as graph, graph.context() as context:
                for _ in range(50):
                    sums.append(sum(probabilities(context.compute({"image": image(1)}))))

        sums = []
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(sums), 200)
        self.assertEqual(len(set(sums)), 1)

    def test_a_host_is_closed_under_calls(self):
        def work(host):
            with self.assertRaisesRegex(ValueError, "the host is closed"):
                while True:
                    host.models()
                    host.inspect("digits")
                    host.metrics()
                    guests.append(host.guest())
            ended.append(host)

        guests, ended = [], []
        for _ in range(10):
            host = wasinn.Host({"models": {"digits": {"path": ONNX}}})
            threads = [threading.Thread(target=work, args=[host]) for _ in range(3)]
            for thread in threads:
                thread.start()
            host.inspect("digits")
            host.close()
            for thread in threads:
                thread.join()
        self.assertEqual(len(ended), 30)
        self.assertTrue(all(guest.closed for guest in guests))

    def test_python_ends_under_calls(self):
        code = """
import sys, threading, wasinn
host = wasinn.Host({"models": {"digits": {"path": sys.argv[1]}}})
graph = host.guest().load_by_name("digits")
image = wasinn.Tensor("f32", (1, 1, 8, 8), bytes(256))
begun = threading.Barrier(5)
def work(calls):
    begun.wait()
    while True:
        for call in calls:
            call()
for calls in 2 * ([host.models, host.metrics], [lambda: graph.compute({"image": image})]):
    threading.Thread(target=work, args=[calls], daemon=True).start()
begun.wait()
host.models()
"""
        for _ in range(5):
            done = subprocess.run([sys.executable, "-c", code, ONNX], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_c_would_cut_is_refused(self):
        for call in (
            lambda: wasinn.Host("threads = 1\0\n[policy]\nload = 'deny'\n"),
            lambda: self.host.add_model("a\0b", ONNX),
            lambda: self.host.add_model("a", f"{ONNX}\0b"),
            lambda: self.host.inspect("digits\0b"),
            lambda: self.host.guest("a\0b"),
            lambda: self.host.guest(policy={"models": ["digits\0b"]}),
        ):
            with self.assertRaisesRegex(ValueError, "zero byte"):
                call()
        for section, name, value in (
            ("limits", "max_graphs", 2**32),
            ("limits", "compute_timeout_ms", -1),
            ("limits", "max_model_bytes", 2**64),
            ("policy", "weight", 2**32),
        ):
            with self.assertRaisesRegex(OverflowError, f"{section}.{name} is a number from 0"):
                self.host.guest(**{section: {name: value}})
        with self.assertRaisesRegex(OverflowError, "version"):
            self.host.add_model("a", ONNX, version=2**32)
        self.host.guest(limits={"max_model_bytes": 2**64 - 1, "max_graphs": 2**32 - 1}).close()

    def test_names_of_a_models_file_may_be_anything(self):
        for old, new in ((b"image", b"ima\xff\xfe"), (b"probabilities", b"probabilitie\xff")):
            (self.dir / "odd.onnx").write_bytes(ONNX.read_bytes().replace(old, new))
            with wasinn.Host({"models": {"odd": {"path": self.dir / "odd.onnx"}}}) as host, host.guest() as guest:
                signature = host.inspect("odd")
                self.assertEqual((len(signature.inputs), len(signature.outputs)), (1, 1))
                self.assertIn("\ufffd", signature.inputs[0].name + signature.outputs[0].name)
                (tensor,) = guest.load_by_name("odd").compute({"0": image()}).values()
                self.assertEqual((tensor.shape, guest.statistics()["tensors"]), ((1, 10), 0))

    def test_a_callback_raises_after_the_call(self):
        with mock.patch("wasinn.host.Model", side_effect=MemoryError), self.assertRaises(MemoryError):
            self.host.models()

    def test_a_text_is_no_list(self):
        for name in ("models", "encodings", "targets"):
            with self.assertRaisesRegex(TypeError, f"policy.{name} is a list; found 'cpu'"):
                self.host.guest(policy={name: "cpu"})

    def test_an_empty_list_allows_nothing(self):
        with self.host.guest(policy={"models": []}) as guest, self.assertRaisesRegex(wasinn.Error, "security"):
            guest.load_by_name("digits")
        with self.host.guest(policy={"load": "in-process", "encodings": []}) as guest, self.assertRaisesRegex(
            wasinn.Error, "security"
        ):
            guest.load(ONNX.read_bytes(), "onnx")

    def test_a_text_is_no_flag(self):
        for name in ("isolated_gpu", "cpu_fallback"):
            with self.assertRaisesRegex(TypeError, f"policy.{name} is True or False; found 'false'"):
                self.host.guest(policy={name: "false"})
        with self.assertRaisesRegex(TypeError, "isolate is True or False; found 'false'"):
            self.host.add_model("a", ONNX, isolate="false")

    def test_a_number_that_no_policy_has_is_refused(self):
        for load in (3, 7, 255, -1):
            with self.assertRaisesRegex(ValueError, "policy.load is one of deny, isolated, in-process"):
                self.host.guest(policy={"load": load})
        with self.assertRaisesRegex(wasinn.Error, "invalid_argument.*policy.weight"):
            self.host.guest(policy={"weight": 1001})

    def test_metrics(self):
        with self.host.guest() as guest:
            guest.load_by_name("digits").compute({"image": image()})
        self.assertIn(
            'wasinn_inferences_total{model="digits",version="1",backend="onnx",code="ok"} 1\n', self.host.metrics()
        )


class SettingsTest(InstalledTest):
    def test_a_dict_a_text_and_a_file(self):
        (self.dir / "s.toml").write_text(f"[models.digits]\npath = '{ONNX}'\n[limits]\nmax_graphs = 1\n")
        text = (self.dir / "s.toml").read_text()
        for settings in (
            {"models": {"digits": {"path": ONNX}}, "limits": {"max_graphs": 1}},
            text,
            self.dir / "s.toml",
        ):
            with wasinn.Host(settings) as host, host.guest() as guest:
                with guest.load_by_name("digits"), self.assertRaisesRegex(wasinn.Error, "max_graphs"):
                    guest.load_by_name("digits")

    def test_values_of_all_kinds(self):
        odd = 'a "quoted"\n\\ name\x7f ü'
        settings = {
            "metrics": True,
            "threads": 1,
            "policy": {"models": [odd], "encodings": ()},
            "models": {odd: {"path": ONNX}},
        }
        with wasinn.Host(settings) as host:
            self.assertEqual([model.name for model in host.models()], [odd])

    def test_a_key_that_nobody_knows(self):
        with self.assertRaisesRegex(wasinn.Error, "invalid_argument.*max_graphs"):
            wasinn.Host({"limits": {"max_graph": 1}})

    def test_the_log_goes_to_logging(self):
        with self.assertLogs("wasinn", "WARNING") as logs, wasinn.Host() as host, host.guest("camera") as guest:
            with self.assertRaises(wasinn.Error):
                guest.load_by_name("none")
        self.assertIn("guest 'camera': load-by-name: not_found", logs.output[0])


class TensorTest(unittest.TestCase):
    def test_arrays_keep_type_and_shape(self):
        for letter, dtype in (
            ("f", "f32"),
            ("d", "f64"),
            ("B", "u8"),
            ("b", "i8"),
            ("H", "u16"),
            ("h", "i16"),
            ("I", "u32"),
            ("q", "i64"),
        ):
            tensor = wasinn.Tensor.of(array.array(letter, [1, 2, 3]))
            self.assertEqual((tensor.dtype, tensor.shape, tensor.tolist()), (dtype, (3,), [1, 2, 3]))
        matrix = memoryview(array.array("f", range(6))).cast("B").cast("f", (2, 3))
        self.assertEqual(wasinn.Tensor.of(matrix).tolist(), [[0, 1, 2], [3, 4, 5]])
        self.assertEqual(wasinn.Tensor.of("hé").text, "hé")

    def test_the_size_is_the_bytes(self):
        class Long(bytes):
            def __len__(self):
                return 256

        for data in (Long(b"x"), memoryview(array.array("d", [0] * 256))):
            with self.assertRaisesRegex(ValueError, "has 256 bytes; found"):
                wasinn.Tensor("f32", (1, 1, 8, 8), data)

    def test_halves(self):
        self.assertEqual(wasinn.Tensor("f16", (2,), b"\x00\x3c\x00\xc0").tolist(), [1, -2])
        self.assertEqual(wasinn.Tensor("bf16", (2,), b"\x80\x3f\x00\xc0").tolist(), [1, -2])

    def test_sizes_and_types_are_checked(self):
        with self.assertRaisesRegex(ValueError, r"f32\[2\] has 8 bytes; found 4"):
            wasinn.Tensor("f32", (2,), b"1234")
        with self.assertRaisesRegex(ValueError, "found 'float'"):
            wasinn.Tensor("float", (1,), b"1234")


class TypesTest(InstalledTest):
    """Types without a number in wasi:nn are passed as other types, and come back unchanged."""

    def test_what_goes_in_comes_out(self):
        for dtype in ("f16", "bf16", "f64", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "bool"):
            shape = (2, 2)
            size = {"f16": 2, "bf16": 2, "f64": 8, "u16": 2, "i16": 2, "u32": 4, "i32": 4, "u64": 8, "i64": 8}.get(
                dtype, 1
            )
            data = bytes([0, 1] * (2 * size))
            with wasinn.Host() as host, host.guest() as guest:
                rep = _wire.send(guest.handle, wasinn.Tensor(dtype, shape, data))
                back = _wire.receive(guest.handle, rep, {"type": dtype, "shape": [2, 2]})
                self.assertEqual((back.dtype, back.shape, back.data), (dtype, shape, data))


class RunTest(InstalledTest):
    def guest(self, body):
        (self.dir / "guest.wat").write_text(f'(module (memory (export "memory") 1) (func (export "_start") {body}))')
        return self.dir / "guest.wat"

    def test_a_program_with_a_model(self):
        outcome = wasinn.run(
            GUESTS / "classify.wasm", ["images/0002_label-2.png"], models={"digits": ONNX}, dirs=[f"{IMAGES}::."]
        )
        self.assertEqual((outcome.code, outcome.reason, outcome.message, outcome.stderr), (0, "exited", "", b""))
        self.assertIn("97.9 %", outcome.check().stdout.decode())
        self.assertEqual([(model["name"], model["computes"]) for model in outcome.report["models"]], [("digits", 1)])

    def test_how_it_ends(self):
        for module, flags, code, reason, message in (
            (self.guest("unreachable"), [], 134, "trapped", "unreachable"),
            (self.dir / "none.wasm", [], 125, "failed", "none.wasm"),
            (self.dir / "none.wasm", ["--unknown"], 2, "failed", "--unknown"),
        ):
            outcome = wasinn.run(module, flags=flags)
            self.assertEqual((outcome.code, outcome.reason), (code, reason))
            self.assertIn(message, outcome.message)
            with self.assertRaisesRegex(wasinn.Error, message) as raised:
                outcome.check()
            self.assertEqual(raised.exception.code, reason)
        outcome = wasinn.run(self.guest("(loop (br 0))"), timeout="200ms")
        self.assertEqual((outcome.code, outcome.reason), (124, "interrupted"))

    def test_a_module_from_its_input(self):
        self.assertEqual(wasinn.run("-", input=self.guest("").read_bytes()).reason, "exited")

    def test_it_is_reported_whatever_folders_the_guest_has(self):
        for folder in ("/tmp::tmp", "/::/", str(self.dir)):
            self.assertEqual(wasinn.run(self.guest("unreachable"), dirs=[folder]).reason, "trapped")

    def test_what_is_no_report_is_none(self):
        self.assertEqual(command._report(b'{"exit_code": 3}', 3), {"exit_code": 3})
        for text in (b"", b'{"exit_code": 3', b"[]", b"{}", b"\xff", b'{"exit_code": 0}'):
            self.assertIsNone(command._report(text, 3))

    def test_a_file_is_no_flag(self):
        for call in (lambda: wasinn.run("--invoke=f", [self.guest("")]), lambda: wasinn.bench("--help")):
            with self.assertRaisesRegex(ValueError, "reads as a flag: write './--"):
                call()

    def test_environment_and_arguments(self):
        probe = GUESTS / "cli-probe.wasm"
        self.assertEqual(wasinn.run(probe, ["exit", "3"]).code, 3)
        self.assertEqual(wasinn.run(probe, ["env", "NAME"], env={"NAME": "a b"}).stdout, b"env NAME=a b\n")

    def test_benchmarks(self):
        result = wasinn.bench(ONNX, iterations=3)
        self.assertGreater(result["p50_us"]["guest"], 0)
        with self.assertRaisesRegex(wasinn.Error, "none.onnx"):
            wasinn.bench(self.dir / "none.onnx")


if __name__ == "__main__":
    unittest.main()
