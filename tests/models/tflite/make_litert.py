"""Makes models next to this file with LiteRT's converter, which litert-torch converts models of PyTorch with."""

import pathlib

from litert_converter import converter_api_ext as converter
from litert_converter.mlir import ir, passmanager

HERE = pathlib.Path(__file__).resolve().parent

# x and factor, combined.
COMBINED = """
func.func @{name}(%x: tensor<2x3xf32>, %factor: tensor<3xf32>) -> tensor<2x3xf32> {{
  %rows = stablehlo.broadcast_in_dim %factor, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %y = stablehlo.{operation} %x, %rows : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}}
"""

# The strings of these indices. StableHLO has no strings, so this is the converter's own language.
STRINGS = """
func.func @main(%x: tensor<?x!tf_type.string>, %i: tensor<?xi32>) -> tensor<?x!tf_type.string> {
  %y = "tfl.gather"(%x, %i) {axis = 0 : i32, batch_dims = 0 : i32} : (tensor<?x!tf_type.string>, tensor<?xi32>) -> tensor<?x!tf_type.string>
  return %y : tensor<?x!tf_type.string>
}
"""


def module(text, signature, inputs, converts=True):
    parsed = ir.Module.parse(text)
    if converts:
        converter.run_convert_to_tfl_passes(parsed, passmanager.PassManager(), converter.ConvertToTFLConfig())
    for function in parsed.body.operations:
        converter.set_signature(function.operation, signature, inputs, ["y"])
    return parsed


def write(name, made):
    (HERE / name).write_bytes(converter.export_flatbuffer_to_bytes(made.operation))


def main():
    context = ir.Context()
    converter.prepare_mlir_context(context)
    with context, ir.Location.unknown():
        both = [module(COMBINED.format(name=name, operation=operation), name, ["x", "factor"])
                for name, operation in (("mul", "multiply"), ("add", "add"))]
        write("signatures.tflite", converter.merge_modules(both))
        write("strings.tflite", module(STRINGS, "gather", ["x", "i"], converts=False))


if __name__ == "__main__":
    main()
