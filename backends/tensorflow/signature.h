// The inputs and outputs of a model.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/ports.h"
#include "tensorflow/graph_scan.h"
#include "tensorflow/saved_model.h"
#include "tensorflow/session.h"

namespace wasinn::tensorflow {

struct Port : backend::Port {
  std::string tensor;  // in the graph; empty: it consists of several tensors
  int type = 0;        // TensorFlow's, without reference
  bool is_strings = false;
  int same_input = -1;  // for an output that is an input's tensor, which TensorFlow refuses to fetch: that input
};

class Signature : public backend::Ports<Port> {
 public:
  // The signature of a SavedModel, sorted by name. `wanted`: names of outputs; none: all.
  Signature(const NamedSignature& named, std::span<const std::string> wanted);
  // The signature of a graph: its placeholders, and the first tensor of each node that no other node uses, with the
  // further ones as "node:1"; or the tensors in `wanted`. Sorted by name.
  Signature(const TfLibrary& library, const Session& session, const GraphScan& scan,
            std::span<const std::string> wanted);

  // The tensors behind the outputs.
  std::vector<std::string> OutputTensors() const;

 private:
  void Finish();
};

}  // namespace wasinn::tensorflow
