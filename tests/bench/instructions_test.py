"""Instructions and atomic operations that wasinn and the engine add to an inference, counted by callgrind: the same on every machine, unlike times."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from callgrind import Profile

BENCH = os.environ["WASINN_BENCH"]  # `wasinn bench` starts it, which valgrind would not follow
SOURCE = pathlib.Path(os.environ["WASINN_SOURCE"])
VALGRIND = os.environ["VALGRIND"]


# Frameworks that the bench would open only to look what they serve: under valgrind that takes long, and OpenVINO's look at the CPUs
# crashes there where there is no /sys.
OTHERS = ("llama", "openvino", "tensorflow", "tflite", "torch")


def profile(model, abi="witx"):
    with tempfile.TemporaryDirectory(prefix="wasinn-callgrind-") as folder:
        out = pathlib.Path(folder) / "callgrind.out"
        config = pathlib.Path(folder) / "host.toml"
        config.write_text("".join(f'[backends.{name}]\nlibrary = "/nowhere"\n' for name in OTHERS))
        subprocess.run(
            [VALGRIND, "--tool=callgrind", "--dump-instr=yes", f"--callgrind-out-file={out}", BENCH, "--abi", abi, "--config", config, "--no-steps", "--iterations", "500", str(model)],
            check=True, capture_output=True, timeout=500,
            env={**os.environ, "WASINN_BENCH_COUNTER_TRIED": "1"},  # nor one that runs itself again
        )  # fmt: skip
        return Profile(out)


def of_framework(counted):
    return sum(
        cost for (caller, callee), cost in counted.edges.items()
        if "wasinn::onnx::Context::Run()" in caller and callee.startswith("libonnxruntime")
    )  # fmt: skip


class InstructionsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.counted = profile(SOURCE / "tests/models/tiny/mean.onnx")
        cls.host_calls = cls.counted.find("wasinn-bench:", "wasinn::wasmtime::", "::Call(void*, wasmtime_caller*")
        cls.inferences = sum(cls.counted.calls[call] for call in cls.host_calls) // 3  # set_input, compute, get_output

    def test_atomic_operations_of_the_smallest_inference(self):
        count = {
            name: self.counted.count(name, r"lock |xchg .*\(", self.inferences // 2) / self.inferences
            for name in self.counted.paths
            if name.startswith(("libwasinn.so", "libwasinn_backend_onnx"))
        }
        print(f"{sum(count.values()):.1f} atomic operations in each inference: {count}")
        self.assertEqual(len(count), 2)
        self.assertGreater(max(count.values()), 5)  # they were found
        self.assertLess(sum(count.values()), 12.5)

    def test_instructions_of_the_smallest_inference(self):
        counted, host_calls, inferences = self.counted, self.host_calls, self.inferences
        framework = of_framework(counted)
        added = (sum(counted.cost[call] for call in host_calls) - framework) / inferences
        print(f"{added:.0f} instructions beside ONNX Runtime's in each inference of {inferences}")
        self.assertGreater(framework / inferences, 1000)
        # 2,620 with -O2 when last looked at; tests/bench/callgrind.py reads what a longer look needs.
        self.assertLess(added, 2700 if os.environ["WASINN_OPTIMIZED"] == "2" else 3200)


class ComponentTest(unittest.TestCase):
    def test_instructions_of_a_components_smallest_inference(self):
        """From the component's calls on: Wasmtime takes the arguments from the guest's memory and puts the results there."""
        counted = profile(SOURCE / "tests/models/tiny/mean.onnx", "wit")
        inferences = sum(counted.calls[call] for call in counted.find("wasinn::abi::", "ContextCompute(", "wasinn_wit_view*)") if "lambda" not in call)
        calls = sum(counted.cost[call] for name in ("HostFn::cabi_entrypoint", "trampolines::resource_drop") for call in counted.find("libwasmtime", name))
        framework = of_framework(counted)
        added = (calls - framework) / inferences
        print(f"{added:.0f} instructions beside ONNX Runtime's in each inference of {inferences}")
        self.assertGreater(framework / inferences, 1000)
        # 15,600 with -O2 when last looked at, two thirds of them Wasmtime's.
        self.assertLess(added, 16200 if os.environ["WASINN_OPTIMIZED"] == "2" else 18500)
