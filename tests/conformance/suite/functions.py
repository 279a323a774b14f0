"""Each function of wasi-nn: what it gives, and its errors."""

import struct

import digits
from checks import CHOICE, Area, fails, gives, refused
from spec import ENUM, HANDLE, at

FORGED = 0x7FFFFFF0
ABSENT = "no-such-model"
TOO_MANY = 17


class Steps:
    """Steps with the digits model, in the words of a form."""

    def __init__(self, form, format):
        self.form, self.format = form, format
        self.f32 = form.types["f32"]
        self.dims = ",".join(map(str, digits.DIMS))
        self.paths = ",".join(f"/suite/{name}" for name in format.files)

    def load(self, graph=0, encoding=None, target=0, paths=None):
        encoding = self.format.encoding if encoding is None else encoding
        return f"load {graph} {paths or self.paths} {encoding} {target}"

    def ready(self, *contexts):
        """A graph, and contexts of it."""
        return [self.load(), *(f"context {context} 0" for context in contexts or [0])]

    def set(self, context=0, data=digits.IMAGE, dims=None, type=None, index=0, name="image"):
        type = self.f32 if type is None else type
        return f"set {context} {self.form.tensor(index, name)} {type} {dims or self.dims} {data.hex() or '-'}"

    def get(self, context=0, room="", index=0, name=None):
        return f"get {context} {self.form.tensor(index, name or self.format.output)} {room}".rstrip()


def argument(seen):
    """An argument that is none. The specification has one word for it."""
    return fails("invalid_argument", cite=at("invalid-argument"), seen=seen)


def load(form, s, models):
    area = Area(form, "load", files=models)
    own = "load" if form.component else "witx load"
    some_error = dict(cite=at("invalid-encoding", "invalid-argument"), seen="runtime_error for whatever the framework refuses")
    no_model = fails("invalid_encoding", "invalid_argument", "runtime_error", "unsupported_operation", **some_error)
    area.part().check("bytes", s.load(), gives(at(own)))
    area.part(*s.ready()).check("bytes/infers", [s.set(), "compute 0", s.get()], gives(at(own), digits.recognised_a_two))
    area.part(s.load(0)).check("twice", s.load(1), gives(CHOICE, refused=("too_large",), seen="a quota of graphs"))
    other = 4 if s.format.encoding != 4 else 1
    area.part().check("bytes of another encoding", s.load(encoding=other), no_model)
    area.part().check("noise", s.load(paths="/suite/noise"), no_model)
    area.part().check("an empty builder", s.load(paths="/suite/empty"), no_model)
    area.part().check("no builder", s.load(paths="-"), no_model)
    area.part().check("half a model", s.load(paths=",".join(["/suite/half", *s.paths.split(",")[1:]])), no_model)
    area.part().check("too many builders", s.load(paths=",".join([s.paths.split(",")[0]] * TOO_MANY)),
                      fails("invalid_argument", "invalid_encoding", "runtime_error", "unsupported_operation", "too_large", cite=at("builder"), seen="the first is taken"))
    area.part().check("autodetect", s.load(encoding=form.autodetect),
                      gives(CHOICE, refused=("invalid_encoding", "unsupported_operation", "invalid_argument"), seen="refused: the name of the value is all that the specification has"))
    for target, number in (("gpu", 1), ("tpu", 2)):
        area.part().check(f"target {target}", s.load(target=number), gives(CHOICE, refused=form.errors, seen="an error, or a CPU in its place"))
    for what, step in (("an encoding that is none", s.load(encoding=200)), ("a target that is none", s.load(target=200))):
        area.part("forge-graph 9 9").check(what, step, fails("trap", cite=ENUM) if form.component else
                                           fails("invalid_argument", "invalid_encoding", "unsupported_operation", "trap", cite=CHOICE, seen="a trap (Wasmtime), the next best encoding"))
    first = next(iter(models.values()))
    content = first if isinstance(first, bytes) else first.read_bytes()
    area.files = {**models, "noise": b"neither fish nor fowl", "empty": b"", "half": content[: len(content) // 2]}
    return area


def load_by_name(form, s, models, named):
    area = Area(form, "load_by_name", files=models)
    not_found = fails("not_found", cite=at("not-found") if form.component else at("witx not_found"), seen="103 (model_not_found); unsupported_operation (Wasmtime)")
    area.part().check("a name that is not there", f"name 0 {ABSENT}", not_found)
    area.part().check("no name", "name 0", refused(form))
    own = at("load-by-name" if form.component else "witx load_by_name")
    if named:
        area.part().check("a name", f"name 0 {named}", gives(own))
        area.part(f"name 0 {named}", "context 0 0").check("a name/infers", [s.set(), "compute 0", s.get()], gives(own, digits.recognised_a_two))
        area.part(f"name 0 {named}").check("twice", [f"name 1 {named}", "context 1 1"], gives(CHOICE))
    return area


def init_execution_context(form, s, models):
    area = Area(form, "init_execution_context", files=models)
    own = at("init-execution-context" if form.component else "witx init_execution_context")
    area.part(s.load()).check("a context", "context 0 0", gives(own))
    area.part(*s.ready(0, 1), s.set(0), s.set(1, digits.BLANK), "compute 0", "compute 1")
    area.check("contexts are apart", s.get(0), gives(own, digits.recognised_a_two))
    area.check("contexts are apart/the other", s.get(1), gives(own, digits.is_no_two))
    handle = fails("trap", cite=HANDLE) if form.component else argument("unsupported_operation (Wasmtime)")
    area.part(s.load(), f"forge-graph 9 {FORGED}").check("a graph that is none", "context 9 9", handle)
    if form.component:
        area.part(*s.ready(), "drop-graph 0", s.set()).check("a context outlives its graph", ["compute 0", s.get()],
                                                             gives(CHOICE, digits.recognised_a_two, seen="nothing else; a host could let the context fail"))
        area.part(*s.ready(), "finalize 0").check("a dropped context", "compute 0", fails("trap", cite=HANDLE))
    return area


def inputs(form, s, models):
    """set_input, or the inputs of the component's compute: a host may refuse them at once or when it computes."""
    area = Area(form, "inputs", files=models)
    wrong = argument("runtime_error (Wasmtime)")
    length = fails("invalid_argument", cite=at("tensor-data", "invalid-argument"), seen="the rest is read from elsewhere; the host panics")

    def bad(what, expect, **tensor):
        area.part(*s.ready()).check(what, [s.set(**tensor), "compute 0"], expect)

    bad("an input that is not there", wrong, index=1000, name="no-such-input")
    bad("another type", wrong, type=form.types["u8"], data=bytes(64))
    bad("another type of the same size", wrong, type=form.types["i32"])
    bad("a dimension too few", wrong, dims="1,8,8")
    bad("a dimension too many", wrong, dims="1,1,1,8,8")
    bad("a dimension too large", wrong, dims="1,1,8,9", data=digits.IMAGE + bytes(32))
    bad("a byte too few", length, data=digits.IMAGE[:-1])
    bad("a byte too many", length, data=digits.IMAGE + b"\0")
    bad("no bytes", length, data=b"")
    bad("4 bytes", length, data=bytes(4))
    no_type = fails("trap", cite=ENUM) if form.component else fails("invalid_argument", "trap", cite=CHOICE, seen="a trap (Wasmtime)")
    bad("a type that is none", no_type, type=200)
    area.part(*s.ready()).check("the last value counts", [s.set(data=digits.BLANK), s.set(), "compute 0", s.get()], fails("success", "invalid_argument", cite=CHOICE, data=digits.recognised_a_two) if form.component
                                else gives(at("witx set_input"), digits.recognised_a_two))
    if form.component:
        # An output would get the handle that the input had.
        given = f"given-tensor 0 no-such-input {s.f32} {s.dims} {digits.IMAGE.hex()}"
        area.part(*s.ready()).check("compute takes its tensors", given, fails("trap", cite=HANDLE))
        bad("no name", wrong, name="-")
    else:
        area.part(f"forge-context 9 {FORGED}").check("a context that is none", s.set(9), argument("unsupported_operation (Wasmtime)"))
    return area


def compute(form, s, models):
    area = Area(form, "compute", files=models)
    own = at("compute" if form.component else "witx compute")
    area.part(*s.ready()).check("an inference", [s.set(), "compute 0", s.get()], gives(own, digits.recognised_a_two))
    area.part(*s.ready(), s.set(data=digits.BLANK), "compute 0").check("once more", [s.set(), "compute 0", s.get()], gives(own, digits.recognised_a_two))
    area.part(*s.ready()).check("no input", "compute 0", fails("invalid_argument", "runtime_error", cite=CHOICE, seen="a result of memory that nobody wrote"))
    if form.component:
        area.part(*s.ready(), f"forge-context 9 {FORGED}").check("a context that is none", "compute 9", fails("trap", cite=HANDLE))
        message = gives(at("error data"), lambda text: None if text.decode("utf-8", "replace").encode() == text else "no UTF-8")
        area.part(*s.ready()).do(s.set(type=form.types["u8"], data=bytes(64))).check("an error", "compute 0", refused(form, at("invalid-argument")))
        area.check("an error/data", "message 0", message)
        shape = struct.pack("<4I", form.types["f32"], 2, 1, digits.CLASSES)
        area.part(*s.ready(), s.set(), "compute 0").check("an output's type and dimensions", f"shape 0 {s.format.output}", gives(at("ty", "dimensions"), shape))
    else:
        area.part(f"forge-context 9 {FORGED}").check("a context that is none", "compute 9", argument("unsupported_operation (Wasmtime)"))
        area.part(*s.ready(), s.set(), "compute 0").check("inputs stay set", ["compute 0", s.get()],
                                                          gives(CHOICE, digits.recognised_a_two, refused=("invalid_argument", "runtime_error"), seen="each compute takes its inputs"))
    return area


def get_output(form, s, models):
    """For core modules: components get tensors."""
    area = Area(form, "get_output", files=models)
    done = [*s.ready(), s.set(), "compute 0"]
    own = at("witx get_output")
    size = 4 * digits.CLASSES
    area.part(*done).check("an output", s.get(), gives(own, digits.recognised_a_two))
    area.check("twice", s.get(), gives(CHOICE, digits.recognised_a_two))
    area.part(*done).check("a buffer of its size", s.get(room=size), gives(at("witx buffer_size"), digits.recognised_a_two))
    area.part(*done).check("a buffer too small", s.get(room=size - 1), fails("too_large", "invalid_argument", "runtime_error", cite=CHOICE, seen="as much as there is room for"))
    area.part(*done).check("a buffer too small/no buffer", s.get(room=0), fails("too_large", "invalid_argument", "runtime_error", cite=CHOICE, seen="nothing, and success"))
    area.part(*done).check("an output that is not there", s.get(index=1000), argument("runtime_error (Wasmtime)"))
    area.part(*s.ready()).check("before a compute", s.get(), fails("invalid_argument", "runtime_error", cite=CHOICE, seen="empty; memory that nobody wrote"))
    area.part(f"forge-context 9 {FORGED}").check("a context that is none", s.get(9), argument("unsupported_operation (Wasmtime)"))
    return area


def tensor(form):
    """Tensors of components, without a model."""
    area = Area(form, "tensor")
    for name, number in form.types.items():
        data = bytes(range(48))[: 6 * (8 if name.endswith("64") else 2 if name.endswith("16") else 1 if name == "u8" else 4)]
        made = struct.pack("<4I", number, 2, 2, 3) + data
        area.part().check(name, f"tensor {number} 2,3 {data.hex()}", gives(at("constructor", "ty", "dimensions", "data"), made))
    area.part().check("no dimensions", f"tensor {form.types['u8']} - 07", gives(CHOICE, struct.pack("<2I", form.types["u8"], 0) + b"\7"))
    area.part("tensor 1 - 00000000").check("a length that does not fit", f"tensor {form.types['f32']} 2,3 00", fails("success", "trap", cite=CHOICE, seen="the constructor has no error, so a host traps or lets compute fail"))
    area.part("tensor 1 - 00000000").check("a type that is none", "tensor 200 1 00", fails("trap", cite=ENUM))
    area.part("tensor 1 - 00000000").check("a dropped one", "dropped-tensor 1 - 00000000", fails("trap", cite=HANDLE))
    return area


def types(form, tiny):
    """Each type of element, in and out, by models that give what they get. ONNX only."""
    cite = at("tensor-type" if form.component else "witx tensor_type")
    area = Area(form, "types", files={})
    for name, number in form.types.items():
        file = f"identity_{name}.onnx"
        area.files[file] = tiny / file
        data = bytes(range(48))[: 6 * (8 if name.endswith("64") else 2 if name.endswith("16") else 1 if name == "u8" else 4)]
        area.part(f"load 0 /suite/{file}", "context 0 0")
        area.check(name, [f"set 0 {form.tensor(0, 'x')} {number} 2,3 {data.hex()}", "compute 0", f"get 0 {form.tensor(0, 'y')}"],
                   gives(cite, data, refused=("unsupported_operation",)))
    one = digits.floats([7.0])

    def shaped(name, file, dims, data, out, wanted, expect_cite, **more):
        area.files[file] = tiny / file
        area.part(f"load 0 /suite/{file}", "context 0 0")
        area.check(name, [f"set 0 {form.tensor(0, 'x')} {form.types['f32']} {dims} {data.hex() or '-'}", "compute 0", f"get 0 {form.tensor(0, out)}"], gives(expect_cite, wanted, **more))

    shaped("a single value is [1]", "identity_scalar.onnx", "1", one, "y", one, at("scalar"))
    shaped("no elements", "identity_empty.onnx", "0,3", b"", "y", b"", CHOICE, refused=("invalid_argument", "unsupported_operation", "runtime_error"))
    for dims, values in (("1,1", [1.0]), ("2,3", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])):
        shaped(f"an open shape of {dims}", "dynamic.onnx", dims, digits.floats(values), "y", digits.floats(values), at("dimensions"))
    counted = struct.pack("<4q", 0, 1, 1, 2)
    shaped("a shape that compute finds out", "nonzero.onnx", "2,3", digits.floats([0.0, 1.0, 0.0, 0.0, 0.0, 1.0]), "indices", counted, at("dimensions"), refused=("unsupported_operation",))
    _two_inputs(form, area, tiny)
    return area


def _two_inputs(form, area, tiny):
    file = "two_in_two_out.onnx"
    area.files[file] = tiny / file
    one, two = digits.floats([1.0] * 4), digits.floats([2.0] * 4)

    def value(index, name, data):
        return f"set 0 {form.tensor(index, name)} {form.types['f32']} 2,2 {data.hex()}"

    cite = at("named-tensor") if form.component else at("witx set_input", "witx get_output")
    ready = [f"load 0 /suite/{file}", "context 0 0"]
    area.part(*ready, value(1, "b", two), value(0, "a", one), "compute 0")
    area.check("inputs in any order", f"get 0 {form.tensor(0, 'difference')}", gives(cite, digits.floats([-1.0] * 4)))
    area.check("a second output", f"get 0 {form.tensor(1, 'sum')}", gives(cite, digits.floats([3.0] * 4)))
    area.part(*ready, value(0, "a", one)).check("an input that is missing", "compute 0", fails("invalid_argument", "runtime_error", cite=CHOICE, seen="memory that nobody wrote"))


def areas(form, format, models, tiny, named):
    s = Steps(form, digits.FORMATS[format])
    files = {name: models / name for name in s.format.files}
    yield load(form, s, files)
    yield load_by_name(form, s, files, named)
    yield init_execution_context(form, s, files)
    yield inputs(form, s, files)
    yield compute(form, s, files)
    if form.component:
        yield tensor(form)
    else:
        yield get_output(form, s, files)
    if format == "onnx":
        yield types(form, tiny)
