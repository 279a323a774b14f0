"""The time of an inference from a guest on a GPU and on the CPU, by the guests' side of `wasinn bench`."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from frameworks import BUILD, CHOSEN

TARGETS = ("gpu", "cpu") if os.environ.get("WASINN_TARGET") == "gpu" else ("cpu",)


def measure(framework, model, target):
    with tempfile.TemporaryDirectory(prefix="wasinn-gpu-") as folder:
        settings = pathlib.Path(folder) / "host.toml"
        settings.write_text(framework.settings(model, target))
        command = [BUILD / "bin" / "wasinn", "bench", "--json", "--no-steps", "--seconds", "1", "--config", settings, *framework.bench[model], "model"]
        done = subprocess.run([str(word) for word in command], env=framework.environment(), stdout=subprocess.PIPE, text=True, timeout=600)
    return json.loads(done.stdout) if done.returncode == 0 else None


def main():
    good = True
    print(f"{'model':<32}{'target':<8}{'p50, µs':>12}{'p99, µs':>12}{'per s':>12}")
    for framework in CHOSEN:
        for model in framework.bench:
            for target in TARGETS:
                report = measure(framework, model, target)
                good = good and report is not None
                if report:
                    numbers = (report[key]["guest"] for key in ("p50_us", "p99_us", "per_s"))
                    print(f"{model:<32}{target:<8}" + "".join(f"{number:>12.1f}" for number in numbers), flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
