"""The command, from Python: running guest programs, and benchmarks."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Union

from ._paths import COMMAND
from .errors import Error

Path = Union[str, os.PathLike]


@dataclass(frozen=True)
class Outcome:
    """How a run ended. `reason` is "exited" (the guest ended itself, with any code), "trapped", "interrupted" (a
    timeout or a signal) or "failed" (an error of wasinn); `message` has the details of the last three. `report` is the
    whole report of `wasinn run --json`: times, numbers of inferences, models."""

    code: int
    reason: str
    message: str
    stdout: bytes
    stderr: bytes
    report: dict

    def check(self) -> Outcome:
        """Returns the outcome if the exit code is 0; otherwise raises Error."""
        if self.code != 0:
            raise Error(
                self.reason, self.message or f"exit code {self.code}: {self.stderr.decode(errors='replace').strip()}"
            )
        return self


def _not_a_flag(file: Path) -> None:
    name = os.fspath(file)
    if name.startswith("-") and name != "-":
        raise ValueError(f"a file's name that begins with '-' reads as a flag: write './{name}'")


def _flags(models: Mapping[str, Path], config: Path | None, more: Mapping[str, object]) -> list[str]:
    flags = [f"--config={os.fspath(config)}"] if config is not None else []
    flags += [f"--model={name}={os.fspath(path)}" for name, path in models.items()]
    return flags + [f"--{name}={value}" for name, value in more.items() if value is not None]


def _report(text: bytes, code: int) -> dict | None:
    """The report of the command, if there is one: a guest that it could not end can have written to the file after
    it."""
    try:
        report = json.loads(text)
        return report if report["exit_code"] == code else None
    except (ValueError, TypeError, KeyError):
        return None


def run(
    module: Path,
    args: Sequence[str] = (),
    *,
    models: Mapping[str, Path] = {},
    dirs: Sequence[str] = (),
    env: Mapping[str, str] = {},
    config: Path | None = None,
    timeout: str | None = None,
    max_memory: str | None = None,
    engine: str | None = None,
    flags: Sequence[str] = (),
    input: bytes = b"",
) -> Outcome:
    """Runs a program in the sandbox, in a separate process, like `wasinn run`, and waits for its end.

    `models` are files or folders by the names that the guest uses, `dirs` are "HOST[::GUEST][:ro]", `env` is the
    guest's environment, `timeout` is a text such as "1s", `max_memory` one such as "64M", `flags` are other flags of
    `wasinn run`. `input` is the guest's stdin; with the module "-" it is the module."""
    _not_a_flag(module)
    # The report needs a named file, and a path without links: the command follows no link in a folder of the guest,
    # which can be /tmp or everything. The command replaces what the guest wrote there, because it writes after the
    # guest's end.
    with tempfile.NamedTemporaryFile(prefix="wasinn-", dir=os.path.realpath(tempfile.gettempdir())) as file:
        more = {"json": file.name, "timeout": timeout, "max-memory": max_memory, "engine": engine}
        command = [str(COMMAND), "run", *_flags(models, config, more)]
        command += [f"--dir={folder}" for folder in dirs] + [f"--env={name}={value}" for name, value in env.items()]
        command += [*flags, os.fspath(module), *args]
        done = subprocess.run(command, input=input, capture_output=True)
        text = file.read() if done.returncode >= 0 else b""
    # There is no report if a flag was wrong or the process was killed.
    report = _report(text, done.returncode) or {
        "outcome": "failed",
        "message": done.stderr.decode(errors="replace").strip(),
    }
    return Outcome(done.returncode, report["outcome"], report["message"], done.stdout, done.stderr, report)


def bench(
    *models: Path,
    seconds: float | None = None,
    iterations: int | None = None,
    concurrency: str | int | None = None,
    config: Path | None = None,
    flags: Sequence[str] = (),
) -> dict:
    """Times models natively and from a guest, like `wasinn bench --json`, and returns what that prints."""
    for model in models:
        _not_a_flag(model)
    chosen = _flags({}, config, {"seconds": seconds, "iterations": iterations, "concurrency": concurrency})
    command = [str(COMMAND), "bench", "--json", *chosen, *flags, *(str(os.fspath(model)) for model in models)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        raise Error("failed", done.stderr.decode(errors="replace").strip())
    return json.loads(done.stdout)
