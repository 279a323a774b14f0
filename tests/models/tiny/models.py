"""Helpers to write ONNX models by hand, shared by the scripts of this folder."""

import onnx
from onnx import TensorProto, helper

OPSET = 17
IR_VERSION = 8
FLOAT = TensorProto.FLOAT
INT64 = TensorProto.INT64

tensor = helper.make_tensor
node = helper.make_node


def value(name, element_type=FLOAT, dims=None):
    """An input or output; dims may hold numbers and names, and None means that even the rank is unknown."""
    return helper.make_tensor_value_info(name, element_type, dims)


def graph(name, nodes, inputs, outputs, initializers=()):
    return helper.make_graph(nodes, name, inputs, outputs, initializer=list(initializers))


def model(name, nodes, inputs, outputs, initializers=()):
    return helper.make_model(
        graph(name, nodes, inputs, outputs, initializers),
        producer_name="wasinn",
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )


def external_tensor(name, dims, location, offset=None, length=None, element_type=FLOAT):
    """A tensor whose bytes are said to stand in another file."""
    result = TensorProto(name=name, data_type=element_type, dims=dims)
    result.data_location = TensorProto.EXTERNAL
    for key, entry in (("location", location), ("offset", offset), ("length", length)):
        if entry is not None:
            result.external_data.add(key=key, value=str(entry))
    return result


def write(path, proto):
    data = proto.SerializeToString(deterministic=True)
    path.write_bytes(data)
    return len(data)


def check(proto):
    onnx.checker.check_model(proto, full_check=True)
