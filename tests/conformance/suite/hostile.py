"""Hostile guests: pointers, lengths, numbers and handles that are none, models that attack, computes without end, modules without memory.

After each attack the guest infers honestly, which must still be right. An attack that only ends the guest is no failure where the
specification has no error for it.
"""

import dataclasses
import pathlib
import re
import tempfile
import time

import digits
from checks import CHOICE, WITX_ERRORS, Area, Check, Expect, Part, fails, refused
from run import SEEN_AS, Guest, judged
from spec import at

TALLY = re.compile(r"(\d+) x (\d+)")
HONEST = "honest inference: "
MEMORY = dict(cite=at("witx memory", "invalid-argument"), seen="the host panics (Wasmtime)")
# The parts of guests/attack.c: {the line of each attack: its right answers}. Of each call of an attack, one of these.
POINTERS = ("builders outside", "16 builders outside", "bytes of a model outside", "a graph's place outside", "a name outside", "a named graph's place outside",
            "a context's place outside", "a tensor outside", "dimensions outside", "data outside", "a buffer outside", "a size's place outside")
ARGUMENT = fails("invalid_argument", "trap", **MEMORY)
ANY = fails(*WITX_ERRORS[1:], "trap", cite=CHOICE, seen="a trap (Wasmtime)")
NAMED = fails(*WITX_ERRORS[1:], "trap", **MEMORY)  # a host without that name need not look at the place
MODULE_PARTS = [
    *({line: NAMED if "name" in line else ARGUMENT} for line in POINTERS),
    {"bytes of a model too long": ARGUMENT},
    {"names too long": NAMED},
    {"buffers too long": ARGUMENT},
    {"0, 17, 2^29 and 2^32-1 builders": ANY},
    {"forged handles": fails("success", "invalid_argument", cite=at("invalid-argument"), seen="handles are numbers from 0, and some of these are right; unsupported_operation (Wasmtime)")},
    {"types that are none": ANY},
    {"ranks that are none": ARGUMENT},
    {"shapes beyond all memory": fails("invalid_argument", "too_large", "trap", cite=at("tensor-data"), seen="the host panics")},
    {"inputs that are not there": fails("invalid_argument", cite=at("invalid-argument"), seen="runtime_error (Wasmtime)")},
    {"outputs that are not there": fails("invalid_argument", cite=at("invalid-argument"), seen="runtime_error (Wasmtime)")},
    {"encodings of these bytes": fails("success", "trap", cite=CHOICE)},
    {"targets that are none": ANY},
    {"compute without an input": fails("refused", cite=CHOICE), "an output before it is computed": fails("refused", "empty", cite=CHOICE), "a tensor of another type": fails("refused", cite=at("invalid-argument")),
     "buffers too small": fails("too_large", "invalid_argument", "runtime_error", cite=CHOICE)},
    {},  # attacks on a form's own functions: wasi_ephemeral_nn has none
    {"contexts": fails("success", "too_large", cite=CHOICE, seen="no bound, or a host that is dead when it is reached"), "bytes of one more graph": fails("success", "too_large", cite=CHOICE)},
]
COMPONENT = fails("refused", cite=at("invalid-argument"))
LENGTH = fails("refused", cite=at("tensor-data"), seen="the host panics")
COMPONENT_PARTS = [
    {"a tensor of another type": COMPONENT},
    {"a byte less": LENGTH},
    {"no bytes": LENGTH},
    {"a shape beyond all memory": LENGTH},
    {"another one": LENGTH},
    *({"an input that is not there": COMPONENT} for _ in range(4)),
    {"no input": fails("refused", cite=CHOICE)},
    {"encodings of these bytes": fails("success", cite=CHOICE)},
    *({} for _ in range(7)),  # "models that are none" is printed for an error that is none of wasi:nn
    {"a name that is not there": fails("refused", cite=at("not-found")), "no name": fails("refused", cite=CHOICE)},
    {"other errors": fails("success", cite=CHOICE, seen="another error than too-large for one context or graph more")},
]


class AttackGuest(Guest):
    """guests/attack.c, attack_component.c: lines "WHAT: ANSWERS" for each part, and an honest inference at the end."""

    def arguments(self, parts, first, folder):
        area = self.area
        args = ["f32", ",".join(map(str, digits.DIMS)), f"{SEEN_AS}/input", ",".join(f"{SEEN_AS}/{name}" for name in area.format.files)]
        return args + (["image", area.format.output] if area.form.component else []) + [area.format.encoding, first]

    def answer(self, line):
        what, colon, answers = line.partition(": ")
        return (what, answers) if colon or line.startswith("part ") else None

    def is_whole(self, part, answers):
        # A component infers once before its first part.
        return bool(answers) and answers[-1][0] + ": " == HONEST and any(what.startswith("part ") for what, _ in answers)

    def judge(self, part, check, answers, ended):
        begin = next((i for i, (what, _) in enumerate(answers) if what.startswith("part ")), None)
        if begin is None:
            return ": ".join(answers[-1]) if answers else (ended if ended != "trap" else "the guest ended before its first attack"), b""
        lines = dict(answers[begin:])
        honest = lines.pop(HONEST[:-2], None)
        if check.line and check.line not in lines:
            return ended or "no answer", b""
        if honest != "the same":
            return f"the honest inference after it: {honest or ended}", b""
        others = [f"{what}: {text}" for what, text in lines.items() if text]
        if not check.line:
            return others[0] if others else "success", b""
        return self._worst(check, lines[check.line]), b""

    def _worst(self, check, text):
        """The first answer that is not right, or else the last one."""
        tally = [WITX_ERRORS[int(number)] if int(number) < len(WITX_ERRORS) else f"error {number}" for _, number in TALLY.findall(text)]
        if not tally:
            return text if text in ("refused", "empty", "done", "taken", "there") or (check.line == "other errors" and text != "0") else "success"
        return next((answer for answer in tally if answer not in check.expect.answers), tally[-1])


@dataclasses.dataclass
class LineCheck(Check):
    line: str = ""


@dataclasses.dataclass
class AttackArea(Area):
    guest_class = AttackGuest
    is_whole = True  # its guest makes all attacks from the first on
    format: object = None


def attacks(form, format, models):
    parts = COMPONENT_PARTS if form.component else MODULE_PARTS
    area = AttackArea(form, "attacks", guest="attack", format=format, files={"input": digits.IMAGE, **models}, most=len(parts))
    seen = {}
    for number, lines in enumerate(parts):
        part = Part()
        # For a part without lines: the honest inference after it.
        for line, expect in (lines or {"": Expect(("success",), CHOICE)}).items():
            name = line or ("models that are none" if form.component else "functions of this form alone")
            seen[name] = seen.get(name, 0) + 1
            name += f"/{seen[name]}" if seen[name] > 1 else ""
            part.checks.append(LineCheck(f"{form.name}/attacks/{name}", range(0), expect, line))
        area.parts.append(part)
    return area


def external_models(form, tiny):
    """Models whose tensors are said to stand in the host's files and memory."""
    area = Area(form, "models")
    security = refused(form, cite=at("security"), trap=True, seen="the host reads the file, or its own memory")
    for path in sorted((tiny / "hostile").glob("location_*.onnx")):
        area.files[path.name] = path
        area.part("forge-graph 9 9").check(path.stem, [f"load 0 {SEEN_AS}/{path.name}", "context 0 0", "compute 0"], security)
    file = "huge_output.onnx"
    area.files[file] = tiny / file
    for name, shape in (("2^64 bytes", [1 << 62]), ("2^65 elements", [1 << 32, 1 << 33]), ("-1 elements", [-1])):
        data = b"".join(dim.to_bytes(8, "little", signed=True) for dim in shape)
        area.part("forge-graph 9 9").check(f"an output of {name}", [f"load 0 {SEEN_AS}/{file}", "context 0 0", f"set 0 {form.tensor(0, 'shape')} {form.types['i64']} {len(shape)} {data.hex()}", "compute 0"],
                                           refused(form, cite=CHOICE, trap=True, seen="the host panics"))
    return area


def endless(form, tiny):
    """A compute that ends by the host's deadline alone, which {seconds} asks for."""
    name = "endless.onnx"
    area = Area(form, "time", files={name: tiny / name}, seconds=1)
    steps = [f"set 0 {form.tensor(0, 'x')} {form.types['f32']} 1 {digits.floats([1.0]).hex()}", "compute 0"]
    cite = at("timeout") if form.component else CHOICE
    area.part(f"load 0 {SEEN_AS}/{name}", "context 0 0").check("a compute without end", steps, fails("timeout", "runtime_error", "trap", cite=cite, seen="no deadline"))
    return area


def _section(number, content):
    return bytes([number, len(content)]) + content


def _name(text):
    return bytes([len(text)]) + text.encode()


def module(memory, errno, ends_well):
    """Asks for a model called "absent". It traps if the errno is another one; or, if not `ends_well`, if it is this one. `memory`: what the
    memory is exported as, or None. It imports nothing else, for WASI's functions need the memory, too."""
    types = b"\2" + b"\x60\3\x7f\x7f\x7f\1\x7f" + b"\x60\0\0"
    imports = b"\1" + _name("wasi_ephemeral_nn") + _name("load_by_name") + b"\0\0"
    exports = [_name("_start") + b"\0\1"] + ([_name(memory) + b"\2\0"] if memory else [])
    call = b"\x41\0" + b"\x41\6" + b"\x41\x10" + b"\x10\0"
    compare = b"\x41" + bytes([errno]) + (b"\x47" if ends_well else b"\x46")  # i32.ne, i32.eq
    body = b"\0" + call + compare + b"\x04\x40\0\x0b" + b"\x0b"  # if unreachable end
    return (b"\0asm\1\0\0\0" + _section(1, types) + _section(2, imports) + _section(3, b"\1\1") + _section(5, b"\1\0\1") + _section(7, bytes([len(exports)]) + b"".join(exports))
            + _section(10, b"\1" + bytes([len(body)]) + body) + _section(11, b"\1\0\x41\0\x0b" + _name("absent")))


class ModuleArea(Area):
    """Modules that say by their end alone which errno they got: one that ends well for it, and one that does not."""

    def run(self, runner):
        for part in self.parts:
            for check in filter(lambda check: runner.wanted(check.name), part.checks):
                errno, begin = check.expect.answers[0], time.monotonic()
                well, words = self._end(runner, module(part.memory, WITX_ERRORS.index(errno), True))
                ill, _ = self._end(runner, module(part.memory, WITX_ERRORS.index(errno), False))
                got = errno if well == 0 and isinstance(ill, int) and ill > 0 else "another errno, or the engine refuses the module" if well != 0 else "no guest ran"
                yield judged(check, got, b"", words, time.monotonic() - begin)

    def _end(self, runner, wasm):
        with tempfile.TemporaryDirectory(prefix="wasinn-conformance-") as folder:
            file, end = pathlib.Path(folder) / "guest.wasm", []
            file.write_bytes(wasm)
            list(runner.host.lines(file, [], folder, self.seconds, end))
            return end[0]


def modules(form):
    area = ModuleArea(form, "memory")
    missing = fails("missing_memory", cite=at("witx missing_memory", "witx memory"), seen="a trap (Wasmtime); the engine refuses the module (WAMR)")
    for name, memory, expect in (("exported", "memory", fails("not_found", cite=at("witx not_found"), seen="unsupported_operation (Wasmtime)")), ("not exported", None, missing), ("under another name", "mem", missing)):
        area.part().check(name, [], expect)
        area.parts[-1].memory = memory
    return area


def areas(form, format, models, tiny):
    files = {name: models / name for name in digits.FORMATS[format].files}
    yield attacks(form, digits.FORMATS[format], files)
    if format == "onnx":
        yield external_models(form, tiny)
        yield endless(form, tiny)
    if not form.component:
        yield modules(form)
