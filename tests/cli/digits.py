"""The digits model in the format of each framework, and what the framework answers in `wasinn run`: a process that is linked with
none of the libraries that frameworks have inside, too."""

import functools
import os
import pathlib
import struct
import subprocess
import tempfile

from command import KEPT, PROBE, WASINN

MODELS = pathlib.Path(os.environ["WASINN_MODELS"])
FRAMEWORKS = os.environ["WASINN_FRAMEWORKS"].split()
FILES = {"onnx": ["digits.onnx"], "openvino": ["digits.xml"], "tflite": ["digits.tflite"], "torch": ["digits.pt"],
         "tensorflow": ["digits.pb", "digits_saved_model"], "llama": []}
DIGITS = [file for framework in FRAMEWORKS for file in FILES[framework]]
TEXTS = ["tiny.gguf"] if "llama" in FRAMEWORKS else []
SHAPE = [1, 1, 8, 8]
PIXELS = struct.pack("<64f", *(i / 64 for i in range(64)))
PROMPT = b"GNU"


def output_of(file):
    return {"digits.pt": "0", "tiny.gguf": "completion"}.get(file, "probabilities")


def settings(*files):
    """A configuration file with these models, by their names."""
    config = {"tiny.gguf": "config = { n-predict = 8, temp = 0 }\n"}
    return "threads = 1\n" + "".join(f"[models.'{file}']\npath = '{MODELS / file}'\n{config.get(file, '')}" for file in files)


@functools.cache
def expected(file):
    """The bytes of ten probabilities, or a text."""
    guest = pathlib.Path(PROBE).parent / "infer-witx.wasm"
    sent, what = (PROMPT, ("u8", "3", "prompt")) if file in TEXTS else (PIXELS, ("f32", "1,1,8,8", "image"))
    with tempfile.TemporaryDirectory(prefix="wasinn-digits-") as name:
        folder = pathlib.Path(name)
        (folder / "in").write_bytes(sent)
        (folder / "models.toml").write_text(settings(file))
        env = {**{name: os.environ[name] for name in KEPT if name in os.environ}, "HOME": name, "WASINN_CONFIG": "",
               "XDG_CACHE_HOME": str(guest.parent / "cache")}
        subprocess.run([WASINN, "run", "--config", folder / "models.toml", "--dir", f"{folder}::/w", guest,
                        *what[:2], "/w/in", "/w/out", what[2], output_of(file), f"name:{file}"], env=env, check=True, stdout=subprocess.DEVNULL)
        return (folder / "out").read_bytes()
