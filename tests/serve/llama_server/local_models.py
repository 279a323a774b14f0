"""Has the tests of llama.cpp's server run without a hub, on models of this repository: against `wasinn serve`, or against llama.cpp's server.

A plugin of pytest, in whose working folder the tests are. LLAMA_SERVER_BIN_PATH: llama.cpp's server; without it, it is wasinn's (WASINN). RESULTS:
a file for what came of each test."""

import contextlib
import functools
import hashlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import types

import openai
import pytest

MODELS, TEST_MODELS = pathlib.Path(os.environ["WASINN_MODELS"]), pathlib.Path(os.environ["WASINN_TEST_MODELS"])
# In place of a preset's model; of the others there is none that does what the hub's does.
LOCAL = {
    "tinyllama2": MODELS / "tiny.gguf",
    "bert_bge_small": TEST_MODELS / "encoder/embedder.gguf",
    "bert_bge_small_with_fa": TEST_MODELS / "encoder/embedder.gguf",
    "jina_reranker_tiny": TEST_MODELS / "encoder/ranker.gguf",
}
# The paths that both servers have outside of /v1.
PATHS = ("/chat/completions", "/completion", "/rerank", "/responses", "/models", "/tokenize", "/detokenize", "/apply-template")

# The options that fetch files.
sys.modules["wget"] = types.ModuleType("wget")
sys.modules["wget"].download = lambda *_, **__: pytest.skip("it needs a file of the hub")
sys.modules["filelock"] = types.ModuleType("filelock")
sys.modules["filelock"].FileLock = contextlib.nullcontext

# A port that is held, so that no other program gets it between two servers; it does not listen.
held = socket.socket()
for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
    held.setsockopt(socket.SOL_SOCKET, option, 1)
held.bind(("127.0.0.1", 0))
os.environ["PORT"] = str(held.getsockname()[1])

sys.path.insert(0, os.getcwd())
import utils  # noqa: E402  the tests' own

results = {}
missing = []  # paths that the test asked for, and that are none of ours


def pytest_runtest_logstart():
    missing.clear()


def pytest_runtest_logreport(report):
    name = report.nodeid.removeprefix("unit/")
    if report.when == "call" or not report.passed:
        results[name] = report.outcome
    if report.failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        results[name] = f"failed: {crash.message if crash else report.longrepr}"[:300]
    if missing:  # however it ended: an error was perhaps what it wanted
        results[name] = f"path: {missing[0]}"
    pathlib.Path(os.environ["RESULTS"]).write_text(json.dumps(results, indent=1))


def use_local_model(make):
    @functools.wraps(make)
    def preset():
        server = make()
        server.offline = False
        server.model_hf_repo = server.model_hf_file = None
        server.model_file = LOCAL.get(make.__name__) and str(LOCAL[make.__name__])
        server.jinja = True  # as by its default: without it templates are chosen by their looks
        server.n_threads = 1  # more of them wait for each other where the machine does something else, too
        return server

    return staticmethod(preset)


def configuration(server):
    """wasinn's settings for flags of llama.cpp's server."""
    places = server.n_slots or 1
    is_encoder = server.server_embeddings or server.server_reranking
    config = {
        "parallel": None if is_encoder else places,
        # With one cache for all there, a text may take all of it.
        "ctx-size": server.n_ctx and server.n_ctx // (1 if server.kv_unified else places),
        "batch-size": server.n_batch,
        "ubatch-size": server.n_ubatch,
        "threads": 1,
        "n-predict": server.n_predict,
        "temp": server.temperature,
        "seed": server.seed,
        "flash-attn": server.fa,
        "context-shift": server.enable_ctx_shift or None,
        "chat-template": server.chat_template,
        "enable-thinking": False if server.reasoning == "off" else None,
    }
    if server.chat_template_file:
        config["chat-template"] = pathlib.Path(server.chat_template_file).read_text()
    name = json.dumps(server.model_alias)
    lines = [f"[models.{name}]", f"path = {json.dumps(server.model_file)}", f"[models.{name}.config]"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in config.items() if value is not None]
    if server.api_key:
        lines += ["[tenants.one]", f'keys = ["sha256:{hashlib.sha256(server.api_key.encode()).hexdigest()}"]']
    return "\n".join(lines) + "\n"


def start(server, timeout_seconds=60):
    if server.model_file is None or server.model_hf_repo is not None:
        pytest.skip("it needs a model of the hub")
    config = pathlib.Path(os.environ["RESULTS"]).with_name("config.toml")
    config.write_text(configuration(server))
    command = [os.environ["WASINN"], "serve", "--config", config, "--allow-origin", "*",
               "--http-port", server.server_port, "--grpc-port", 0, "--metrics-port", 0]
    server.process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=sys.stdout)
    utils.server_instances.add(server)
    line = server.process.stdout.readline().decode()
    assert line.startswith("serving HTTP"), line


def ours(path):
    path = {"/health": "/v2/health/live", "/embeddings": "/v1/embeddings"}.get(path, path)
    if not path.startswith(("/v1/", "/v2/", *PATHS)) or path.startswith(("/v1/messages", "/v1/stream")):
        missing.append(path)
    return path


def without_model(data):
    """For a request by a name that is no model's: llama.cpp's server has one model, whatever it is called."""
    return {key: value for key, value in data.items() if key != "model"} if isinstance(data, dict) else data


def our_request(server, method, path, data=None, *args, **more):
    data = without_model(data)
    if server.debug and isinstance(data, dict):  # where each answer has it, for any client
        data = {"verbose": True, **data}
    return (method, path, data, *args), more


def wrap(of, name, change):
    """`change` takes what it is called of, and the arguments, and returns others."""
    original = getattr(of, name)

    @functools.wraps(original)
    def wrapped(self, *args, **more):
        args, more = change(self, *args, **more)
        return original(self, *args, **more)

    setattr(of, name, wrapped)


server_class, presets = utils.ServerProcess, utils.ServerPreset
for name, make in list(vars(presets).items()):
    if isinstance(make, staticmethod):
        setattr(presets, name, use_local_model(make.__func__))
presets.load_all = staticmethod(lambda: None)
# Another model has other words.
utils.match_regex = lambda regex, text: True
server_class.start = start
wrap(server_class, "make_url", lambda _, path, *args, **more: ((ours(path), *args), more))
for name in ("make_request", "make_stream_request"):
    wrap(server_class, name, our_request)
wrap(openai.OpenAI, "post", lambda _, path, **more: ((path,), {**more, "body": without_model(more["body"])}))
