"""A host: the frameworks, models and settings that one process shares."""

from __future__ import annotations

import contextlib
import ctypes
import json
import logging
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

from . import _abi
from ._abi import lib
from ._handle import Handle
from ._settings import toml
from ._status import check
from ._words import Blob, blobs, c_text, flag, set_number, target_number
from .guest import Guest

#: Settings of docs/configuration.md: a dict, the text of a TOML file, or the path of one.
Settings = Union[Mapping, str, os.PathLike, None]

_SECONDS_AT_EXIT = 5  # seconds to wait, since a program can keep Host.handle forever
_LEVELS = {0: logging.ERROR, 1: logging.WARNING, 2: logging.INFO, 3: logging.DEBUG}
_FLAGS = {1 << 0: "optional", 1 << 1: "opaque", 1 << 2: "unservable", 1 << 3: "always"}


@dataclass(frozen=True)
class Io:
    """An input or output of a model. `dtype` is "unknown" and `shape` is None if the framework does not report them; -1
    is an open dimension. `flags`: "optional", "opaque" (bytes of any length), "unservable", "always" (can be read
    before an inference)."""

    name: str
    dtype: str
    shape: tuple[int, ...] | None
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Signature:
    inputs: tuple[Io, ...]
    outputs: tuple[Io, ...]


@dataclass(frozen=True)
class Model:
    """A registered model. `encoding`, `backend` and `framework` are "" if they are unknown; a load makes them known."""

    name: str
    version: int
    encoding: str
    target: str
    path: str
    loaded: bool
    backend: str
    framework: str


@dataclass(frozen=True)
class Backend:
    """A backend. If it is not available, `missing` is the reason, `install` is the command that installs its framework,
    and `looked_for` names the files that were looked for."""

    name: str
    encodings: str
    available: bool
    framework: str
    devices: str
    library: str
    missing: str
    install: str
    looked_for: str


def _config(settings: Settings) -> int:
    config = lib.wasinn_config_new()
    try:
        if isinstance(settings, os.PathLike):
            check(lib.wasinn_config_load_file(config, c_text(settings, "the path of the settings")))
        elif settings is not None:
            text = settings if isinstance(settings, str) else toml(settings)
            check(lib.wasinn_config_load_toml(config, c_text(text, "the text of the settings")))
    except BaseException:
        lib.wasinn_config_free(config)
        raise
    return config


def _log_to(logger: logging.Logger) -> object:
    def log(_, record):
        line = record.contents
        logger.log(_LEVELS.get(line.level, logging.INFO), "%s", line.message.decode(errors="replace"))

    return _abi.LogFunction(log)


@contextlib.contextmanager
def _callback(kind: Any, function: Callable) -> Iterator[Any]:
    """The function for C, during a call. An exception that it raises is raised again after the call; ctypes would only
    print it."""
    raised: list[BaseException] = []

    def call(*arguments):
        try:
            if not raised:
                function(*arguments)
        except BaseException as error:
            raised.append(error)

    yield kind(call)
    if raised:
        raise raised.pop()


def _word(text: bytes) -> str:
    """A text from C. It can have names from a model's file, which are arbitrary bytes."""
    return text.decode(errors="replace")


def _free(host: int | None, _log: object) -> None:
    lib.wasinn_host_free(host)


def _at_exit(reference: weakref.ref[Host]) -> None:
    """Closes the host when the interpreter ends. It waits for daemon threads that are in a call: the interpreter would
    end such a thread in a callback, and the C++ code below it does not survive that."""
    host = reference()
    if host is None or host._handle is None:
        return
    freed = host._handle.freed
    host.close()
    freed.wait(_SECONDS_AT_EXIT)


class Host:
    """Frameworks, models and settings, shared by all guests. It is a context manager, and any thread can use it.

    Log messages go to `logger`, by default the logger "wasinn" of the module logging, up to the level `log.level` of
    the settings. A handler of that logger must not call wasinn."""

    def __init__(self, settings: Settings = None, *, logger: logging.Logger | None = None):
        self._log = log = _log_to(logger or logging.getLogger("wasinn"))
        config = _config(settings)
        out = ctypes.c_void_p()
        try:
            check(lib.wasinn_host_new(config, log, None, out))
        finally:
            lib.wasinn_config_free(config)
        self._handle: Handle | None = Handle(out.value, _free, log)
        self._guests: weakref.WeakSet[Guest] = weakref.WeakSet()
        self._lock = threading.RLock()  # guards the two; reentrant, because a garbage collection can close the host
        weakref.finalize(self, _at_exit, weakref.ref(self))

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Refuses new calls and closes its guests. Running calls of other threads end normally; the last one frees the
        host. Can be called more than once."""
        with self._lock:
            self._handle = None
            guests = list(self._guests)
        for guest in guests:
            guest.close()

    @property
    def handle(self) -> Handle:
        """The wasinn_host, for ctypes. It is valid as long as this object."""
        handle = self._handle
        if handle is None:
            raise ValueError("the host is closed")
        return handle

    def add_model(
        self,
        name: str,
        model: str | os.PathLike | Blob | Sequence[Blob],
        *,
        encoding: str = "autodetect",
        target: str = "cpu",
        version: int = 0,
        config: Mapping | None = None,
        backend: str | None = None,
        preload: bool = False,
        immutable: bool = False,
        isolate: bool = False,
        warm_up: int = 0,
    ) -> None:
        """Registers a model: a file, a folder, or its bytes (several parts if the format has them). The keywords are
        those of [models.NAME] in docs/configuration.md, which also has pipelines and batching. The model is compiled at
        its first load, or now (`preload`)."""
        options = _abi.ModelOptions(
            encoding=c_text(encoding, "the encoding"),
            target=target_number(target),
            immutable=flag(immutable, "immutable"),
            preload=flag(preload, "preload"),
            isolate=flag(isolate, "isolate"),
            backend=c_text(backend, "the backend") if backend else None,
            config=json.dumps(config).encode() if config else None,
        )
        set_number(options, "version", version, "version")
        set_number(options, "warm_up", warm_up, "warm_up")
        if isinstance(model, (str, os.PathLike)):
            options.path = c_text(model, "the model's path")
        else:
            parts = blobs(model)
            options.builders, options.n_builders = parts, len(parts)
        check(lib.wasinn_host_add_model(self.handle, c_text(name, "the model's name"), options))

    def add_models(self, folder: str | os.PathLike) -> None:
        """Registers every model of a folder. Each subfolder is a model: NAME/model.onnx, NAME/1/model.onnx."""
        check(lib.wasinn_host_add_models(self.handle, c_text(folder, "the folder's path")))

    def remove_model(self, name: str) -> None:
        """Removes all versions of a model, or one version: "NAME:2". Guests that hold it keep it."""
        check(lib.wasinn_host_remove_model(self.handle, c_text(name, "the model's name")))

    def unload_model(self, name: str) -> None:
        """Unloads a model. It stays registered: the next load reads and compiles its files again."""
        check(lib.wasinn_host_unload_model(self.handle, c_text(name, "the model's name")))

    def reload_model(self, name: str) -> None:
        """Compiles a model's files again. Until that is done, and if it fails, loads get the previous model."""
        check(lib.wasinn_host_reload_model(self.handle, c_text(name, "the model's name")))

    def models(self) -> list[Model]:
        """The registered models, sorted by name and version."""
        found = []

        def add(_, info):
            info = info.contents
            target = lib.wasinn_target_name(info.target).decode()
            found.append(
                Model(
                    _word(info.name),
                    info.version,
                    _word(info.encoding),
                    target,
                    os.fsdecode(info.path),
                    info.loaded,
                    _word(info.backend),
                    _word(info.framework),
                )
            )

        with _callback(_abi.ModelFunction, add) as function:
            lib.wasinn_host_models(self.handle, function, None)
        return found

    def inspect(self, name: str) -> Signature:
        """A model's inputs and outputs. Loads it if it is not loaded."""
        inputs: list[Io] = []
        outputs: list[Io] = []

        def add(_, is_output, __, io):
            io = io.contents
            shape = tuple(io.dims[i] for i in range(io.rank)) if io.rank >= 0 else None
            flags = frozenset(word for bit, word in _FLAGS.items() if io.flags & bit)
            dtype = lib.wasinn_dtype_name(io.dtype).decode()
            (outputs if is_output else inputs).append(Io(_word(io.name), dtype, shape, flags))

        with _callback(_abi.IoFunction, add) as function:
            check(lib.wasinn_host_inspect(self.handle, c_text(name, "the model's name"), function, None))
        return Signature(tuple(inputs), tuple(outputs))

    def backends(self) -> list[Backend]:
        """The known backends. Opens each framework that is installed."""
        found = []

        def add(_, report):
            report = report.contents
            found.append(
                Backend(
                    _word(report.name),
                    _word(report.encodings),
                    report.available,
                    _word(report.framework),
                    _word(report.devices),
                    os.fsdecode(report.library),
                    _word(report.missing),
                    _word(report.install),
                    _word(report.looked_for),
                )
            )

        with _callback(_abi.BackendFunction, add) as function:
            lib.wasinn_host_backends(self.handle, function, None)
        return found

    def metrics(self) -> str:
        """The host's metrics, in Prometheus' text format (docs/metrics.md)."""
        texts = []
        function = _abi.TextFunction(lambda _, text, size: texts.append(_word(ctypes.string_at(text, size))))
        check(lib.wasinn_host_metrics(self.handle, function, None))
        return texts[0]

    def guest(
        self, name: str | None = None, *, limits: Mapping[str, int] | None = None, policy: Mapping | None = None
    ) -> Guest:
        """Makes a guest, which loads models and computes, and has its own handles and quotas. `limits` and `policy`
        have the keys of the sections [limits] and [policy]; missing keys have the values of the host."""
        guest = Guest(self, name, limits, policy)
        with self._lock:
            if self._handle is not None:
                self._guests.add(guest)
                return guest
        guest.close()  # the host was closed meanwhile
        raise ValueError("the host is closed")
