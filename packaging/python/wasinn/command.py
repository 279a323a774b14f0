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
    """How a run ended. `reason` is "exited" (the guest ended itself, with any code), "trapped", "interrupted" (a timeout or a
    signal) or "failed" (an error of wasinn's); `message` tells more of the last three. `report` is all that `wasinn run --json` tells: times,
    numbers of computes, models."""

    code: int
    reason: str
    message: str
    stdout: bytes
    stderr: bytes
    report: dict

    def check(self) -> Outcome:
        """Itself, if the code is 0; else raises Error."""
        if self.code != 0:
            raise Error(self.reason, self.message or f"exit code {self.code}: {self.stderr.decode(errors='replace').strip()}")
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
    """What the command told, if it did: a guest that it could not end may have written to the file after it."""
    try:
        report = json.loads(text)
        return report if report["exit_code"] == code else None
    except (ValueError, TypeError, KeyError):
        return None


def run(
    module: Path, args: Sequence[str] = (), *, models: Mapping[str, Path] = {}, dirs: Sequence[str] = (), env: Mapping[str, str] = {},
    config: Path | None = None, timeout: str | None = None, max_memory: str | None = None, engine: str | None = None,
    flags: Sequence[str] = (), input: bytes = b"",
) -> Outcome:  # fmt: skip
    """Runs a program in the sandbox, in a process of its own, as `wasinn run` does, and waits for its end.

    `models` are files or folders by the names that the guest uses, `dirs` are "HOST[::GUEST][:ro]", `env` is the guest's environment,
    `timeout` is as "1s", `max_memory` as "64M", `flags` are other flags of `wasinn run`. `input` is the guest's stdin; with the module "-" it is
    the module."""
    _not_a_flag(module)
    # A file with a name, and no link on the way to it: the command follows none in a folder of the guest's, which may be /tmp or all. What
    # the guest writes there is gone, since the command writes when the guest has ended.
    with tempfile.NamedTemporaryFile(prefix="wasinn-", dir=os.path.realpath(tempfile.gettempdir())) as told:
        more = {"json": told.name, "timeout": timeout, "max-memory": max_memory, "engine": engine}
        command = [str(COMMAND), "run", *_flags(models, config, more)]
        command += [f"--dir={folder}" for folder in dirs] + [f"--env={name}={value}" for name, value in env.items()]
        command += [*flags, os.fspath(module), *args]
        done = subprocess.run(command, input=input, capture_output=True)
        text = told.read() if done.returncode >= 0 else b""
    # A wrong flag, or a process that was killed, tells nothing.
    report = _report(text, done.returncode) or {"outcome": "failed", "message": done.stderr.decode(errors="replace").strip()}
    return Outcome(done.returncode, report["outcome"], report["message"], done.stdout, done.stderr, report)


def bench(
    *models: Path, seconds: float | None = None, iterations: int | None = None, concurrency: str | int | None = None,
    config: Path | None = None, flags: Sequence[str] = (),
) -> dict:  # fmt: skip
    """Times models natively and from a guest, as `wasinn bench --json` does: what that prints."""
    for model in models:
        _not_a_flag(model)
    chosen = _flags({}, config, {"seconds": seconds, "iterations": iterations, "concurrency": concurrency})
    command = [str(COMMAND), "bench", "--json", *chosen, *flags, *(str(os.fspath(model)) for model in models)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        raise Error("failed", done.stderr.decode(errors="replace").strip())
    return json.loads(done.stdout)
