"""A guest, which is a user of models: a sandboxed program, or this program if it computes itself."""

from __future__ import annotations

import ctypes
import json
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _abi
from ._abi import WitResult, WitView, lib, wit
from ._handle import Handle
from ._status import check, checked, content
from ._wire import receive, send
from ._words import Blob, blobs, c_text, flag, set_number, target_number, words
from .tensor import Input, Tensor

if TYPE_CHECKING:
    from .host import Host

_LOAD = {"deny": 0, "isolated": 1, "in-process": 2}
_LIMITS = tuple(name for name, *_ in _abi.Limits._fields_ if name != "struct_size")
_POLICY = ("load", "cpu_fallback", "isolated_gpu", "targets", "models", "encodings", "tenant", "weight")


def _known(section: str, given: Mapping[str, object], names: Sequence[str]) -> None:
    for name in given:
        if name not in names:
            raise ValueError(f"{section} has no '{name}'; known: {', '.join(names)}")


def _limits(host: Host, given: Mapping[str, int]) -> _abi.Limits:
    _known("limits", given, _LIMITS)
    limits = _abi.Limits()
    check(lib.wasinn_host_limits(host.handle, limits))
    for name, value in given.items():
        set_number(limits, name, value, f"limits.{name}")
    return limits


def _texts(values: Sequence[str], what: str) -> Any:
    return (ctypes.c_char_p * len(values))(*(c_text(value, what) for value in values))


def _policy(host: Host, given: Mapping[str, Any]) -> _abi.Policy:
    _known("policy", given, _POLICY)
    policy = _abi.Policy()
    check(lib.wasinn_host_policy(host.handle, policy))
    for name, value in given.items():
        if name in ("models", "encodings"):
            chosen = _texts(words(value, f"policy.{name}"), f"policy.{name}")
            setattr(policy, name, chosen)
            setattr(policy, "n_" + name, len(chosen))
        elif name == "targets":
            policy.targets = sum(1 << target_number(word) for word in set(words(value, "policy.targets")))
        elif name == "load":
            if value not in _LOAD:
                raise ValueError(f"policy.load is one of {', '.join(_LOAD)}; found '{value}'")
            policy.load = _LOAD[value]
        elif name == "weight":
            set_number(policy, name, value, "policy.weight")
        elif name == "tenant":
            policy.tenant = c_text(value, "policy.tenant")
        else:
            setattr(policy, name, flag(value, f"policy.{name}"))
    return policy


class _Owned:
    """An object of a guest. It is dropped once: by close, or with the last reference."""

    _drop: Any

    def __init__(self, guest: Guest, rep: int):
        self._guest = guest
        self._rep = rep
        self._finalizer = weakref.finalize(self, guest._dropped, type(self)._drop, rep)
        self._finalizer.atexit = False  # closing the guest drops all

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Drops it. Can be called more than once."""
        self._finalizer()

    @property
    def _open(self) -> int:
        if not self._finalizer.alive:
            raise ValueError(f"the {type(self).__name__.lower()} is closed")
        return self._rep


class Guest:
    """Handles and quotas of one user of models. It is a context manager, and any thread can use it. `Host.guest` makes
    one."""

    def __init__(self, host: Host, name: str | None, limits: Mapping[str, int] | None, policy: Mapping | None):
        options = _abi.GuestOptions(name=c_text(name, "the guest's name") if name else None)
        if limits:
            options.limits = ctypes.pointer(_limits(host, limits))
        if policy:
            options.policy = ctypes.pointer(_policy(host, policy))
        out = ctypes.c_void_p()
        check(lib.wasinn_guest_new(host.handle, options, out))
        self.closed = False
        # The library can call the log until the guest is freed.
        self._handle = Handle(out.value, _free, host._log)
        # Also called at the interpreter's exit: no framework may be running while the process ends.
        weakref.finalize(self, lib.wasinn_guest_close, self._handle)

    def __enter__(self) -> Guest:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Cancels running calls, waits for them, and frees all objects of the guest. Can be called more than once, from
        any thread that is not in a call of this guest."""
        self.closed = True
        lib.wasinn_guest_close(self._handle)

    def stop(self) -> None:
        """Refuses new calls and cancels running ones, from any thread, without waiting."""
        lib.wasinn_guest_stop(self._handle)

    @property
    def handle(self) -> Handle:
        """The wasinn_guest, for ctypes. It is valid as long as this object. Once the guest is closed, it refuses
        calls."""
        return self._handle

    def load_by_name(self, name: str, config: Mapping | None = None) -> Graph:
        """Gets a registered model by its name ("digits", "digits:2"). `config` has keys that its backend lets guests
        set."""
        result, text = WitResult(), name.encode()
        if config:
            keys = json.dumps(config).encode()
            check(wit.graph_load_by_name_with_config(self.handle, text, len(text), keys, len(keys), result))
        else:
            check(wit.graph_load_by_name(self.handle, text, len(text), result))
        return Graph(self, checked(self.handle, result))

    def load(self, model: Blob | Sequence[Blob], encoding: str = "autodetect", target: str = "cpu") -> Graph:
        """Loads a model that the guest brings as bytes (several parts if the format has them). It runs in a separate
        process, unless the policy allows it in this one."""
        parts = blobs(model)
        result, word = WitResult(), encoding.encode()
        check(wit.graph_load_as(self.handle, parts, len(parts), word, len(word), target_number(target), result))
        return Graph(self, checked(self.handle, result))

    def statistics(self) -> dict[str, int]:
        """The guest's current holdings and its work so far, with the names of wasinn_statistics."""
        stats = _abi.Statistics()
        check(lib.wasinn_guest_statistics(self.handle, stats))
        return {name: getattr(stats, name) for name, *_ in stats._fields_ if name != "struct_size"}

    def _dropped(self, drop, rep: int) -> None:
        if not self.closed:  # otherwise the guest is closed
            lib.wasinn_status_free(drop(self._handle, rep))


def _free(guest: int | None, _log: object) -> None:
    lib.wasinn_guest_free(guest)


class Graph(_Owned):
    """A loaded model. `Guest.load_by_name` and `Guest.load` make one."""

    _drop = wit.graph_drop

    def __init__(self, guest: Guest, rep: int):
        super().__init__(guest, rep)
        view = WitView()
        check(wit.describe(guest.handle, rep, view))
        #: The model, in the form that docs/abi.md shows for `describe`: backend, inputs, outputs, …
        self.description: dict = json.loads(content(view))

    def context(self) -> Context:
        """Makes a context for inferences. Use it for many, because making a context costs more than one inference."""
        result = WitResult()
        check(wit.graph_init_execution_context(self._guest.handle, self._open, result))
        return Context(self._guest, checked(self._guest.handle, result), self.description)

    def compute(self, inputs: Mapping[str, Input]) -> dict[str, Tensor]:
        """Makes one inference, with a context for this call only."""
        with self.context() as context:
            return context.compute(inputs)


class Context(_Owned):
    """The inputs and outputs of one inference at a time on a model. `Graph.context` makes one."""

    _drop = wit.context_drop

    def __init__(self, guest: Guest, rep: int, description: dict):
        super().__init__(guest, rep)
        self._outputs = {output["name"]: output for output in description.get("outputs") or []}

    def compute(self, inputs: Mapping[str, Input]) -> dict[str, Tensor]:
        """Makes one inference, and returns its outputs by their names. Inputs have the names of the model, or "0", "1"
        and so on. They must have the types and shapes of the model: nothing is converted."""
        guest, context, result, view = self._guest.handle, self._open, WitResult(), WitView()
        named = self._named(inputs)
        check(wit.context_compute(guest, context, named, len(named), result, view))
        checked(guest, result)
        try:  # the names are the view's
            outputs = ctypes.cast(view.data, ctypes.POINTER(_abi.NamedTensor))
            found = [
                (ctypes.string_at(o.name_address, o.name_size).decode(errors="replace"), o.tensor)
                for o in outputs[: view.count]
            ]
        finally:
            view.release(view.owner)
        tensors = {}
        try:
            while found:
                name, rep = found.pop(0)
                tensors[name] = receive(guest, rep, self._outputs.get(name))
        finally:  # the remaining ones, if one fails
            for _, rep in found:
                check(wit.tensor_drop(guest, rep))
        return tensors

    def select_outputs(self, *names: str) -> None:
        """Selects outputs: from now on compute returns only these. Without names it returns all again."""
        result, chosen = WitResult(), blobs([name.encode() for name in names])
        check(wit.context_select_outputs(self._guest.handle, self._open, chosen, len(chosen), result))
        checked(self._guest.handle, result)

    def output(self, name: str) -> Tensor:
        """An output that can be read at any time, such as a language model's "metadata", or the text of a generation so
        far."""
        result, text = WitResult(), name.encode()
        check(wit.context_get_output(self._guest.handle, self._open, text, len(text), result))
        return receive(self._guest.handle, checked(self._guest.handle, result), self._outputs.get(name))

    def generate(self, inputs: Mapping[str, Input]) -> Iterator[str]:
        """The text of a language model, piece by piece. Closing the iterator ends the generation."""
        guest, context, result = self._guest.handle, self._open, WitResult()
        named = self._named(inputs)
        check(wit.context_start(guest, context, named, len(named), result))
        checked(guest, result)
        try:
            while True:
                has_piece, view = ctypes.c_uint32(), WitView()
                check(wit.context_next(guest, self._open, result, has_piece, view))
                checked(guest, result)
                if not has_piece.value:
                    return
                yield content(view).decode(errors="replace")
        finally:
            if self._finalizer.alive and not self._guest.closed:
                check(wit.context_finish(guest, self._rep, result))
                checked(guest, result)

    def _named(self, inputs: Mapping[str, Input]) -> Any:
        """The inputs as tensors of the guest. The call that gets them consumes them."""
        guest, reps = self._guest.handle, []
        names = [ctypes.create_string_buffer(name.encode()) for name in inputs]
        try:
            for value in inputs.values():
                reps.append(send(guest, Tensor.of(value)))
        except BaseException:
            for rep in reps:
                check(wit.tensor_drop(guest, rep))
            raise
        named: Any = (_abi.NamedTensor * len(reps))()
        named.kept = names
        for entry, name, rep in zip(named, names, reps):
            entry.name_address, entry.name_size, entry.tensor = ctypes.addressof(name), len(name) - 1, rep
        return named
