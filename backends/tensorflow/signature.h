// The inputs and outputs of a model.
#ifndef WASINN_BACKENDS_TENSORFLOW_SIGNATURE_H_
#define WASINN_BACKENDS_TENSORFLOW_SIGNATURE_H_

#include <wasinn/backend.h>

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "tensorflow/graph_scan.h"
#include "tensorflow/saved_model.h"
#include "tensorflow/session.h"

namespace wasinn::tensorflow {

// One input or output. Its `io` points into it, so it stays where it was made.
struct Port {
  std::string name;
  std::string tensor;  // in the graph; empty: it is several tensors
  std::string type_name;
  int type = 0;  // TensorFlow's, of a value
  std::vector<int64_t> dims;
  wasinn_io io = {};
  int same_input = -1;  // of an output that is an input's tensor, which TensorFlow refuses to fetch: that input

  bool servable() const { return (io.flags & WASINN_IO_UNSERVABLE) == 0; }
};

class Signature {
 public:
  // Of a signature in a SavedModel, sorted by name. `wanted`: names of outputs; none: all.
  Signature(const NamedSignature& named, std::span<const std::string> wanted);
  // Of a graph: its placeholders, and the first tensor of each node that nothing consumes, with the further ones as
  // "node:1"; or the tensors that are `wanted`. Sorted by name.
  Signature(const TfLibrary& library, const Session& session, const GraphScan& scan,
            std::span<const std::string> wanted);
  Signature(const Signature&) = delete;
  Signature& operator=(const Signature&) = delete;

  const std::deque<Port>& inputs() const { return inputs_; }
  const std::deque<Port>& outputs() const { return outputs_; }
  const wasinn_info* info() const { return &info_; }
  // The tensors behind the outputs.
  std::vector<std::string> OutputTensors() const;

 private:
  void Finish();

  std::deque<Port> inputs_;
  std::deque<Port> outputs_;
  std::vector<const wasinn_io*> input_pointers_;
  std::vector<const wasinn_io*> output_pointers_;
  wasinn_info info_ = {};
};

}  // namespace wasinn::tensorflow

#endif  // WASINN_BACKENDS_TENSORFLOW_SIGNATURE_H_
