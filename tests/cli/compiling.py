"""Guests that take long to compile, and the process that compiles them."""

import os
import pathlib
import selectors

from command import WAIT


def doubling(times):
    """A component with 2^times instances, which Wasmtime writes down one by one."""
    lines = ["(component (component $c0 (core module $m) (core instance (instantiate $m)))"]
    for i in range(times):
        lines.append(f"(component $c{i + 1} (instance (instantiate $c{i})) (instance (instantiate $c{i})))")
    return "\n".join([*lines, f"(instance (instantiate $c{times})))"])


def compiler_of(command):
    """A descriptor of the process that compiles for a command, once there is one."""
    while command.poll() is None:
        for children in pathlib.Path(f"/proc/{command.pid}/task").glob("*/children"):
            for child in children.read_text().split():
                return os.pidfd_open(int(child))
    raise AssertionError(f"it has ended with {command.returncode}")


def has_ended(process):
    """Whether it ends; closes the descriptor."""
    with selectors.DefaultSelector() as selector:
        selector.register(process, selectors.EVENT_READ)
        ended = bool(selector.select(WAIT))
    os.close(process)
    return ended
