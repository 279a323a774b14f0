"""The servers that bench.py measures, and the requests to them."""

import contextlib
import http.client
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sysconfig
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = pathlib.Path(os.environ.get("WASINN_BUILD", SOURCE / "build/release")) / "bin"
TRITON = pathlib.Path(os.environ.get("WASINN_TRITONSERVER", SOURCE / ".deps/share/tritonserver"))
LLAMA_SERVER = pathlib.Path(os.environ.get("WASINN_LLAMA_SERVER", SOURCE / ".deps/llama-server/bin/llama-server"))
MODEL = SOURCE / "models/digits.onnx"
REST, GRPC = "/v2/models/digits/infer", "/inference.GRPCInferenceService/ModelInfer"
PATIENCE = 60  # seconds; everything that is waited for takes much less

TRITON_CONFIG = """backend: "python"
max_batch_size: 0
input [{ name: "image" data_type: TYPE_FP32 dims: [1, 1, 8, 8] }]
output [{ name: "probabilities" data_type: TYPE_FP32 dims: [1, 10] }]
instance_group [{ count: 1 kind: KIND_CPU }]
"""

# One thread, which is also the default of wasinn.
TRITON_MODEL = """import sys

sys.path.insert(0, {python!r})
import onnxruntime
import triton_python_backend_utils as triton


class TritonPythonModel:
    def initialize(self, args):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession({model!r}, options, providers=["CPUExecutionProvider"])

    def execute(self, requests):
        answers = []
        for request in requests:
            image = triton.get_input_tensor_by_name(request, "image").as_numpy()
            (output,) = self.session.run(None, {{"image": image}})
            answers.append(triton.InferenceResponse([triton.Tensor("probabilities", output)]))
        return answers
"""


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    """A field of a Protocol Buffers message; the value is bytes, a text, or another message."""
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def pixels():
    return [(7 * i % 17) / 16 for i in range(64)]


def rest_body():
    data = ",".join(f"{pixel:g}" for pixel in pixels())
    return f'{{"inputs":[{{"name":"image","datatype":"FP32","shape":[1,1,8,8],"data":[{data}]}}]}}'.encode()


def grpc_body():
    tensor = field(1, "image") + field(2, "FP32") + field(3, bytes([1, 1, 8, 8]))
    return field(1, "digits") + field(5, tensor) + field(7, struct.pack("<64f", *pixels()))


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def get(port, path):
    return ask(port, "GET", path, None)


def post(port, path, body):
    return ask(port, "POST", path, body)


def ask(port, method, path, body):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, body)
        response = connection.getresponse()
        text = response.read()
        assert response.status == 200, (response.status, text)
        return text
    finally:
        connection.close()


class Server:
    """A program on `cpus`, and its children."""

    def __init__(self, name, command, cpus, **more):
        self.name = name
        pin = ["taskset", "-c", cpus] if cpus else []
        self.process = subprocess.Popen([*pin, *map(str, command)], stdout=subprocess.PIPE, **more)
        self.ports = {}

    def pids(self):
        """The process ids of the program and of all processes that it started."""
        all_pids, new = [], [self.process.pid]
        while new:
            all_pids += new
            tasks = [task for pid in new for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children")]
            new = [int(child) for task in tasks for child in task.read_text().split()]
        return all_pids

    def status(self, key):
        """A value of /proc/PID/status, such as VmRSS (in KiB) and Threads, summed over the server's processes."""
        total = 0
        for pid in self.pids():
            for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith(key + ":"):
                    total += int(line.split()[1])
        return total

    def cpu_seconds(self):
        """The processor time of its processes so far."""
        ticks = 0
        for pid in self.pids():
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def descriptors(self):
        return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in self.pids())

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                for pid in self.pids():
                    os.kill(pid, signal.SIGKILL)
                self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def wasinn(cpus, *flags, of=("--model", f"digits={MODEL}")):
    ports = [word for port in ("--http-port", "--grpc-port", "--metrics-port") for word in (port, "0")]
    server = Server("wasinn", [BIN / "wasinn", "serve", *of, *ports, *flags], cpus)
    for what in ("http", "grpc", "metrics"):
        server.ports[what] = int(server.process.stdout.readline().decode().rpartition(":")[2])
    return server


def language(cpus, model, places, context, folder):
    """`wasinn serve` with a language model that generates with one thread."""
    config = folder / "language.toml"
    config.write_text(
        f'[models.lm]\npath = "{model}"\n[models.lm.config]\nparallel = {places}\nctx-size = {context}\nthreads = 1\n'
    )
    return wasinn(cpus, "--config", config, of=())


def llama_server(cpus, model, places, context, folder):
    """llama.cpp's own server, with the same settings. Like wasinn, it only keeps the prompts that its slots hold."""
    if not LLAMA_SERVER.exists():
        raise SystemExit("llama-server is not there: scripts/deps.sh llama-server")
    port = free_port()
    command = [LLAMA_SERVER, "--model", model, "--ctx-size", context * places, "--parallel", places, "--port", port]
    command += "--no-kv-unified --threads 1 --threads-batch 1 --cache-ram 0 --log-disable".split()
    with open(folder / "llama-server.log", "wb") as log:
        server = Server("llama-server", command, cpus, stderr=log)
    server.ports = {"http": port}
    await_answer(server, lambda: get(port, "/health"), folder / "llama-server.log")
    return server


def echo(protocol, cpus, answer_bytes, threads):
    more = ["--threads", threads] if protocol == "http" else []
    server = Server(f"echo_{protocol}", [BIN / f"serve-echo-{protocol}", "--answer-bytes", answer_bytes, *more], cpus)
    server.ports[protocol] = int(server.process.stdout.readline())
    return server


def triton(cpus, folder):
    """Triton with its Python backend, the only one that its package has."""
    if not (TRITON / "bin/tritonserver").exists():
        raise SystemExit("tritonserver is not there: scripts/deps.sh serve-bench")
    model = folder / "models/digits"
    (model / "1").mkdir(parents=True, exist_ok=True)
    (model / "config.pbtxt").write_text(TRITON_CONFIG)
    (model / "1/model.py").write_text(TRITON_MODEL.format(model=str(MODEL), python=str(TRITON / "python")))
    ports = {what: free_port() for what in ("http", "grpc", "metrics")}
    command = [
        TRITON / "bin/tritonserver",
        f"--model-repository={folder / 'models'}",
        f"--backend-directory={TRITON / 'backends'}",
        "--allow-gpu-metrics=false",
        "--log-info=false",
        "--log-warning=false",
        *(f"--{what}-port={port}" for what, port in ports.items()),
    ]
    libraries = f"{TRITON / 'lib'}:{sysconfig.get_config_var('LIBDIR')}"
    environment = {**os.environ, "LD_LIBRARY_PATH": libraries}
    log = folder / "triton.log"
    with open(log, "wb") as errors:
        server = Server("triton", command, cpus, env=environment, stderr=errors)
    server.ports = ports
    await_answer(server, lambda: post(ports["http"], REST, rest_body()), log)
    return server


def await_answer(server, ask_it, log):
    """Waits until the server answers."""
    end = time.monotonic() + PATIENCE
    while server.process.poll() is None and time.monotonic() < end:
        try:
            ask_it()
            return
        except (OSError, AssertionError):
            time.sleep(0.1)
    server.stop()
    raise SystemExit(f"{server.name} does not serve: {log.read_text()}")


@contextlib.contextmanager
def precedence():
    """Gives the bench precedence over other work of this machine, if the system allows it."""
    group = pathlib.Path("/proc/self/autogroup")  # the niceness of processes only counts within their group
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    try:
        with contextlib.suppress(OSError):
            group.write_text("-20")
        yield
    finally:
        with contextlib.suppress(OSError):
            group.write_text("0")
