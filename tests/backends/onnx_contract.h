// ONNX models for the contract, which ONNX Runtime and OpenVINO compute.
#pragma once

#include "backends/contract_test.h"
#include "backends/onnx_writer.h"
#include "support/test.h"

namespace wasinn::test {

// Floats of [rows, 2]; -1: any number of rows, and not the same of all.
inline Proto OnnxRows(const std::string& name, int64_t rows) {
  const Proto any = Proto().Text(2, name);
  const Proto shape =
      Proto().Add(1, rows < 0 ? any : Proto().Int(1, static_cast<uint64_t>(rows))).Add(1, Proto().Int(1, 2));
  return Value(name, Proto().Add(1, Proto().Int(1, kFloat).Add(2, shape)));
}

inline Subject OnnxSubject(const std::string& name, int64_t rows) {
  return {.name = name,
          .bytes =
              [=] {
                return ModelOf({.nodes = {Node("Sub", {"a", "b"}, {"difference"}), Node("Add", {"a", "b"}, {"sum"})},
                                .inputs = {OnnxRows("a", rows), OnnxRows("b", rows)},
                                .outputs = {OnnxRows("difference", rows), OnnxRows("sum", rows)}});
              },
          .inputs = {{.name = "a", .dims = {rows, 2}}, {.name = "b", .dims = {rows, 2}}},
          .outputs = {{.name = "difference", .dims = {rows, 2}}, {.name = "sum", .dims = {rows, 2}}},
          .compute = DifferenceAndSum};
}

// Its outputs are its inputs, one by its own name.
inline Subject OnnxPassedOn(const std::string& name, int64_t rows) {
  return {.name = name,
          .bytes =
              [=] {
                return ModelOf({.nodes = {Node("Identity", {"b"}, {"same"})},
                                .inputs = {OnnxRows("a", rows), OnnxRows("b", rows)},
                                .outputs = {OnnxRows("a", rows), OnnxRows("same", rows)}});
              },
          .inputs = {{.name = "a", .dims = {rows, 2}}, {.name = "b", .dims = {rows, 2}}},
          .outputs = {{.name = "a", .dims = {rows, 2}}, {.name = "same", .dims = {rows, 2}}},
          .compute = InputsThemselves};
}

}  // namespace wasinn::test
