"""Small ONNX models, written field by field: the tests have no library for that."""

FLOAT, INT64, STRING = 1, 7, 8


def varint(value):
    value &= 2**64 - 1
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def message(*fields):
    """Each field is a number and an integer, a text, or bytes."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
            continue
        value = value.encode() if isinstance(value, str) else value
        out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def tensor(element, *dims):
    shape = message(*((1, message((2, "n") if dim < 0 else (1, dim))) for dim in dims))
    return message((1, message((1, element), (2, shape))))


def value(name, kind):
    return message((1, name), (2, kind))


def class_maps(key):
    """A sequence of maps from keys of this type to floats."""
    float_tensor = message((1, message((1, FLOAT))))
    return message((4, message((1, message((5, message((1, key), (2, float_tensor))))))))


def ints(name, *values):
    return message((1, name), *((8, one) for one in values), (20, 7))


def floats(name, *values):
    import struct
    return message((1, name), (7, struct.pack(f"<{len(values)}f", *values)), (20, 6))


def strings(name, *values):
    return message((1, name), *((9, one) for one in values), (20, 8))


def text(name, one):
    return message((1, name), (4, one), (20, 3))


def number(name, one):
    return message((1, name), (3, one), (20, 2))


def node(op, inputs, outputs, *attributes, domain=""):
    return message(*((1, one) for one in inputs), *((2, one) for one in outputs), (4, op), *((5, one) for one in attributes), (7, domain))


def model(nodes, inputs, outputs, ir=8, opset=17):
    graph = message(*((1, one) for one in nodes), (2, "graph"), *((11, one) for one in inputs), *((12, one) for one in outputs))
    return message((1, ir), (7, graph), (8, message((1, ""), (2, opset))), (8, message((1, "ai.onnx.ml"), (2, 3))))


def identity(element=STRING, *dims):
    return model([node("Identity", ["x"], ["y"])], [value("x", tensor(element, *dims))], [value("y", tensor(element, *dims))])


def encoder(classes):
    """Strings to their numbers."""
    encode = node("LabelEncoder", ["x"], ["y"], strings("keys_strings", *classes), ints("values_int64s", *range(len(classes))),
                  number("default_int64", -1), domain="ai.onnx.ml")
    return model([encode], [value("x", tensor(STRING, -1))], [value("y", tensor(INT64, -1))])


def classifier(classes, intercept=0):
    """f32 [n, 2] to `label` and, by a ZipMap, to maps of each class to a score: that of class i is x0 * (i + 1) + x1 + intercept."""
    are_texts = isinstance(classes[0], str)
    kind, labels = (STRING, strings("classlabels_strings", *classes)) if are_texts else (INT64, ints("classlabels_int64s", *classes))
    of_classifier = strings("classlabels_strings", *classes) if are_texts else ints("classlabels_ints", *classes)
    coefficients = [one for i in range(len(classes)) for one in (i + 1, 1)]
    classify = node("LinearClassifier", ["x"], ["label", "scores"], of_classifier, floats("coefficients", *coefficients),
                    floats("intercepts", *[intercept] * len(classes)), text("post_transform", "NONE"), number("multi_class", 1), domain="ai.onnx.ml")
    return model([classify, node("ZipMap", ["scores"], ["maps"], labels, domain="ai.onnx.ml")], [value("x", tensor(FLOAT, -1, 2))],
                 [value("label", tensor(kind, -1)), value("maps", class_maps(kind))])


def sequence():
    """A sequence of known length, one of unknown length, and a tensor."""
    parts, rest = (value(name, message((4, message((1, tensor(FLOAT)))))) for name in ("parts", "rest"))
    nodes = [node("SequenceConstruct", ["x", "x"], ["parts"]), node("SplitToSequence", ["x"], ["rest"]), node("Identity", ["x"], ["y"])]
    return model(nodes, [value("x", tensor(FLOAT, 1))], [parts, rest, value("y", tensor(FLOAT, 1))])
