"""Writes the hostile models, into hostile/: each tries to make the host read something that is not the model's.

In all of them a tensor called `secret` is said to stand in another file ("external data"), and the model's output `y`
is that tensor. A model that a guest gives as bytes has no folder, so all of them must be refused then; a model that the
host named may use files of its own folder, so of these only the place_ ones, and only next to their secret.txt.

  location_*  where the bytes are said to be; always an initializer of the main graph
  place_*     where in the model the tensor hides; always the file secret.txt. ONNX Runtime 1.31.1 looks for it in the
              host's working directory and reads it from all of these places
"""

import pathlib

from onnx import SparseTensorProto, TensorProto

from models import FLOAT, INT64, external_tensor, graph, model, node, tensor, value, write

HERE = pathlib.Path(__file__).resolve().parent / "hostile"
# ONNX Runtime's own mark for "the bytes lie in this process, at address `offset`".
IN_MEMORY = "*/_ORT_MEM_ADDR_/*"
UP = "../" * 16
U8 = TensorProto.UINT8
BYTES = 4
Y = [value("y", U8, [BYTES])]


def secret(location="secret.txt", offset=0, length=BYTES, dims=(BYTES,), element_type=U8):
    return external_tensor("secret", dims, location, offset, length, element_type)


def give(source="secret", target="y"):
    return node("Identity", [source], [target])


def constant(tensor_proto):
    return node("Constant", [], ["secret"], value=tensor_proto)


def at_location(name, tensor_proto):
    y = value("y", tensor_proto.data_type, list(tensor_proto.dims))
    return model("location_" + name, [give()], [], [y], [tensor_proto])


def in_if(name, nodes, initializers):
    """Both branches of an If hold the tensor, out of sight of the main graph."""
    branches = [
        graph(side, [*nodes, give(target=side + "_y")], [], [value(side + "_y", U8, [BYTES])], initializers)
        for side in ("yes", "no")
    ]
    choose = node("If", ["which"], ["y"], then_branch=branches[0], else_branch=branches[1])
    return model("place_" + name, [choose], [value("which", TensorProto.BOOL, [])], Y)


def in_function():
    """A function of the model holds the tensor; the main graph only calls it."""
    proto = model("place_function", [node("Reveal", [], ["y"], domain="local")], [], Y)
    proto.opset_import.add(domain="local", version=1)
    function = proto.functions.add(name="Reveal", domain="local", output=["out"])
    function.opset_import.add(domain="", version=proto.opset_import[0].version)
    function.node.extend([constant(secret()), give(target="out")])
    return proto


def in_sparse(name, as_attribute):
    """The values of a sparse tensor are external."""
    sparse = SparseTensorProto(dims=[BYTES])
    sparse.values.CopyFrom(secret())
    sparse.indices.CopyFrom(tensor("", INT64, [BYTES], list(range(BYTES))))
    nodes = [node("Constant", [], ["secret"], sparse_value=sparse)] if as_attribute else []
    proto = model("place_" + name, [*nodes, give()], [], Y)
    if not as_attribute:
        proto.graph.sparse_initializer.append(sparse)
    return proto


def in_other_attribute():
    """An attribute of another node than Constant."""
    fill = node("ConstantOfShape", ["four"], ["y"], value=secret(length=1, dims=[1]))
    return model("place_other_attribute", [fill], [], Y, [tensor("four", INT64, [1], [BYTES])])


def locations():
    yield at_location("absolute", secret("/etc/passwd"))
    yield at_location("parent", secret(UP + "etc/passwd"))
    yield at_location("hidden_parent", secret("./a/../" + UP + "etc/passwd"))
    yield at_location("no_length", secret("/etc/passwd", None, None))
    yield at_location("device", secret("/dev/zero"))
    yield at_location("process", secret("/proc/self/mem", 0x10000))
    yield at_location("huge_offset", secret(offset=2**63 - 1))
    yield at_location("negative_offset", secret(offset=-4))
    # ONNX Runtime treats small initializers, large ones, and int64 ones that may be shapes in ways of their own.
    yield at_location("memory", secret(IN_MEMORY, 0x10000))
    yield at_location("memory_large", secret(IN_MEMORY, 0x10000, 4096, [1024], FLOAT))
    yield at_location("memory_shape", secret(IN_MEMORY, 0x10000, 8, [1], INT64))


def places():
    yield model("place_initializer", [give()], [], Y, [secret()])
    yield model("place_attribute", [constant(secret()), give()], [], Y)
    yield in_other_attribute()
    yield in_if("subgraph", [], [secret()])
    yield in_if("subgraph_attribute", [constant(secret())], [])
    yield in_function()
    yield in_sparse("sparse", as_attribute=False)
    yield in_sparse("sparse_attribute", as_attribute=True)


def main():
    HERE.mkdir(exist_ok=True)
    for proto in (*locations(), *places()):
        name = proto.graph.name
        print(f"{write(HERE / (name + '.onnx'), proto):6} bytes  hostile/{name}.onnx")


if __name__ == "__main__":
    main()
