// A model's inputs and outputs, as its server describes and answers them, and those of a context.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include <grpcpp/support/byte_buffer.h>
#include <wasinn/backend.h>
#include <cstddef>
#include <string_view>

#include "common/aligned_buffer.h"
#include "common/ports.h"

namespace wasinn::remote {

// An output as the server sent it, not validated.
struct AnsweredTensor {
  std::string name, datatype;
  std::vector<int64_t> dims;
  std::string contents;  // InferTensorContents, if the server sends no raw bytes
  bool is_json = false;
  std::string_view json;     // an array in the message
  bool is_optional = false;  // an input that may be left unset
  // The position of its raw bytes in the message.
  bool is_raw = false;
  uint64_t at = 0, bytes = 0;
};

// Reads an output, or a tensor of a model's metadata, which has the same fields. Throws WASINN_ERROR_RUNTIME.
AnsweredTensor ReadTensor(std::span<const uint8_t> bytes);

// Reads outputs in the message's order. Throws WASINN_ERROR_RUNTIME if the answer is invalid or has more than `most`.
std::vector<AnsweredTensor> ReadAnswer(const grpc::ByteBuffer& message, size_t most);

// Fills `out` with elements of `dtype` from an InferTensorContents. Returns false if the type or the count differs.
bool DecodeContents(std::string_view contents, uint32_t dtype, std::span<uint8_t> out);
// The only text of contents. Returns false if there are none or several.
bool TextOfContents(std::string_view contents, std::string_view* text);

// Copies raw bytes out of a message, front to back.
class RawReader {
 public:
  explicit RawReader(const grpc::ByteBuffer& message);

  // `at` must be after all bytes that were read.
  void Read(uint64_t at, std::span<uint8_t> to);

 private:
  std::vector<grpc::Slice> slices_;
  size_t slice_ = 0;
  uint64_t before_ = 0;  // bytes of the slices before it
};

// Only the tensors' names, datatypes and dims are set.
struct Metadata {
  std::string platform;
  std::vector<AnsweredTensor> inputs, outputs;
};

// Not parsed by Protocol Buffers, whose parser writes to stderr if a text is not UTF-8. Throws WASINN_ERROR_RUNTIME if
// the message is invalid.
Metadata ReadMetadata(const grpc::ByteBuffer& message);

// Limits beyond any model's inputs, outputs and names.
inline constexpr size_t kMaxTensors = 1024, kMaxName = 4096;

// type_name is the protocol's datatype.
struct Port : backend::Port {
  // A single BYTES element, whose bytes guests see unchanged.
  bool is_text = false;
  std::vector<int64_t> text_dims;  // the shape in which a text input is sent
};

// `dims`: empty: any shape. `is_input`: texts are opaque.
Port MakePort(const std::string& name, const std::string& datatype, std::span<const int64_t> dims, bool is_input);

class Signature : public backend::Ports<Port> {
 public:
  // A server is untrusted: throws WASINN_ERROR_UNSUPPORTED_OPERATION for a signature that no model has.
  explicit Signature(const Metadata& metadata);

  // Otherwise each answer has its own outputs.
  bool knows_outputs() const { return knows_outputs_; }

 private:
  bool knows_outputs_ = true;
};

// Refers to the host's memory. Used by one thread at a time.
class Inputs {
 public:
  struct Input {
    const Port* port = nullptr;
    const void* data = nullptr;
    uint64_t bytes = 0;
    std::vector<int64_t> dims;  // as sent
  };

  explicit Inputs(const Signature& signature);

  // wasinn_backend::bind_input and unbind_input.
  void Bind(uint32_t index, const wasinn_tensor& tensor);
  void Unbind(uint32_t index) { is_set_[index] = false; }
  // Throws if a required input is missing. Afterwards the set inputs are listed.
  void Choose();
  std::span<const Input* const> set() const { return set_; }

 private:
  const Signature& signature_;
  std::vector<Input> inputs_;
  std::vector<bool> is_set_;
  std::vector<const Input*> set_;
};

// A server's answer is checked like a guest's tensors: names, types, shapes, sizes. Its bytes are copied once, to bound
// memory or to this object's. Used by one thread at a time.
class Outputs {
 public:
  explicit Outputs(const Signature& signature);

  // wasinn_backend::bind_output.
  void Bind(uint32_t index, const wasinn_tensor& tensor);
  // Requires that wanted outputs are bound if necessary; empty `wanted`: all.
  void Choose(std::span<const uint32_t> wanted);
  // The names to ask for; empty: all.
  std::vector<std::string> WantedNames() const;
  const Signature& signature() const { return signature_; }
  // Takes a server's answer, whose raw bytes are in `message`. Throws WASINN_ERROR_RUNTIME if it does not match the
  // signature; WASINN_ERROR_TOO_LARGE for more than `max_bytes`, unless that is 0.
  void Take(const grpc::ByteBuffer& message, std::span<const AnsweredTensor> answered, uint64_t max_bytes);
  void Discard();

  void View(uint32_t index, wasinn_tensor* view) const;
  void Give(uint32_t index, wasinn_tensor* out);
  // For a model whose answers have their own outputs.
  std::span<const wasinn_io* const> Ios() const { return ios_; }

 private:
  struct Output {
    void* bound = nullptr;
    bool is_wanted = true, is_there = false;
    std::vector<int64_t> dims;
    uint64_t bytes = 0;
    backend::AlignedBuffer own;
  };

  void MakePorts(std::span<const AnsweredTensor> answered);
  const Port& PortAt(uint32_t index) const { return backend::PortAt(ports(), "output", index); }
  const std::deque<Port>& ports() const { return signature_.knows_outputs() ? signature_.outputs() : answered_ports_; }
  void Check(const Port& port, const AnsweredTensor& tensor, uint64_t left) const;
  void Fill(const Port& port, const AnsweredTensor& tensor, RawReader& raw, Output& output) const;
  void FillText(const Port& port, const AnsweredTensor& tensor, RawReader& raw, Output& output, uint64_t left) const;

  const Signature& signature_;
  std::vector<Output> outputs_;
  std::deque<Port> answered_ports_;  // from the last answer
  std::vector<const wasinn_io*> ios_;
};

}  // namespace wasinn::remote
