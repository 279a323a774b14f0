"""Checks: what a guest asks of a host, which answers are right, and why.

A *part* is a few steps of a guest that need nothing of other parts, with the checks of their answers. Parts of one area run in one
guest. If a guest ends early, another one goes on behind the part that ended it (run.py).
"""

import dataclasses
import typing

# The errors of each form, in the order of their numbers.
WITX_ERRORS = ("success", "invalid_argument", "invalid_encoding", "missing_memory", "busy", "runtime_error", "unsupported_operation", "too_large", "not_found")
WIT_ERRORS = ("invalid_argument", "invalid_encoding", "timeout", "runtime_error", "unsupported_operation", "too_large", "not_found", "security", "unknown")
WIT_FIRST = 1000  # what guests add to the number of an error of a component
STEPS_OWN = {200: "no such file", 201: "no such step", 202: "no such output"}

CHOICE = "choice"  # instead of a line of the specification, if it leaves the answer to the host


@dataclasses.dataclass(frozen=True)
class Form:
    """One of the two forms of wasi-nn."""

    name: str
    guest: str  # guests are called PROGRAM-GUEST.wasm
    component: bool
    types: typing.Mapping[str, int]
    autodetect: int

    def error(self, number):
        if number == 0:
            return "success"
        names, index = (WIT_ERRORS, number - WIT_FIRST) if self.component else (WITX_ERRORS, number)
        return names[index] if 0 <= index < len(names) else STEPS_OWN.get(number, f"error {number}")

    @property
    def errors(self):
        return WIT_ERRORS if self.component else WITX_ERRORS[1:]

    def tensor(self, index, name):
        """An input or output, as this form calls it."""
        return name if self.component else str(index)


WITX = Form("witx", "witx", False, dict(f16=0, f32=1, f64=2, u8=3, i32=4, i64=5), 5)
WIT = Form("wit", "october.component", True, dict(f16=0, f32=1, f64=2, bf16=3, u8=4, i32=5, i64=6), 6)
FORMS = (WITX, WIT)


@dataclasses.dataclass(frozen=True)
class Expect:
    answers: tuple  # names of errors, "success", "trap"
    cite: str
    seen: str = ""  # what else hosts in the field do
    data: typing.Optional[typing.Callable] = None  # what is wrong with the bytes of a success, or None
    refused: tuple = ()  # answers by which the host says that it has not what the check needs: neither right nor wrong

    def words(self):
        for errors in (WITX_ERRORS[1:], WIT_ERRORS):
            if set(errors) <= set(self.answers):
                return " or ".join(["any error", *(answer for answer in self.answers if answer not in errors)])
        return " or ".join(self.answers)


def gives(cite, data=None, **more):
    """A success; `data` is the bytes that it gives, or a function that returns what is wrong with them."""
    if isinstance(data, bytes):
        wanted = data
        data = lambda got: None if got == wanted else f"{len(got)} other bytes: {got[:16].hex()}…, expected {wanted[:16].hex()}…"  # noqa: E731
    return Expect(("success",), cite, data=data, **more)


def fails(*answers, cite, **more):
    return Expect(answers, cite, **more)


def refused(form, cite=CHOICE, trap=False, **more):
    """Any error of the form."""
    return Expect(form.errors + (("trap",) if trap else ()), cite, **more)


@dataclasses.dataclass
class Check:
    name: str
    steps: range  # of the part; of several, the first that fails gives the answer, else the last
    expect: Expect


@dataclasses.dataclass
class Part:
    steps: list = dataclasses.field(default_factory=list)
    checks: list = dataclasses.field(default_factory=list)
    files: dict = dataclasses.field(default_factory=dict)  # beside the area's


@dataclasses.dataclass
class Area:
    """The parts that one guest after the other runs, and the files that they read: {name: path or bytes}."""

    form: Form
    name: str
    guest: str = "steps"
    files: dict = dataclasses.field(default_factory=dict)
    parts: list = dataclasses.field(default_factory=list)
    most: int = 24  # parts of one guest
    seconds: int = 60  # the deadline that the host should give a compute

    def part(self, *setup):
        """Begins a part; `setup` are steps that must succeed."""
        self.parts.append(Part(list(setup)))
        return self

    def do(self, *setup):
        self.parts[-1].steps.extend(setup)
        return self

    def check(self, name, steps, expect):
        steps = [steps] if isinstance(steps, str) else steps
        part = self.parts[-1]
        begin = len(part.steps)
        part.steps.extend(steps)
        part.checks.append(Check(f"{self.form.name}/{self.name}/{name}", range(begin, len(part.steps)), expect))
        return self
