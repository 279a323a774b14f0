// The outputs of a server's answer to the backend `remote`, for fuzzers.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/dtype.h"
#include "common/error.h"
#include "common/ports.h"
#include "fuzz/expect.h"
#include "remote/tensors.h"

namespace wasinn::fuzz {

using remote::Outputs;
using remote::Port;
using remote::Signature;

// The limit for one bound output: a host would not allow a model more.
inline constexpr uint64_t kMaxBound = 1 << 16;

inline grpc::ByteBuffer Message(std::string_view bytes, size_t piece) {
  std::vector<grpc::Slice> slices;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    const std::string_view next = bytes.substr(0, piece);
    slices.emplace_back(next.data(), next.size());
  }
  return {slices.data(), slices.size()};
}

// The code that `call` throws; WASINN_OK if it throws nothing. Anything but an error of ours ends the fuzzer.
template <typename Call>
wasinn_code CodeOf(Call&& call, std::string* what = nullptr) {
  try {
    call();
    return WASINN_OK;
  } catch (const backend::Error& error) {
    FUZZ_EXPECT(error.code() != WASINN_OK && error.what()[0] != '\0');
    if (what != nullptr) *what = error.what();
    return error.code();
  }
}

// The outputs of one answer, and how it ended.
class Taken {
 public:
  // `read` is how a protocol reads an answer.
  template <typename Read>
  Taken(const Signature& signature, const grpc::ByteBuffer& message, uint64_t most, Read read)
      : signature_(signature), outputs_(signature) {
    Bind();
    code_ = CodeOf(
        [&] {
          outputs_.Choose({});
          outputs_.Take(message, read(message), most);
        },
        &what_);
    if (code_ == WASINN_OK) ReadOutputs(most);
  }

  bool operator==(const Taken& other) const {
    return code_ == other.code_ && what_ == other.what_ && bytes_ == other.bytes_;
  }

 private:
  void Bind() {
    uint32_t index = 0;
    for (const Port& port : signature_.outputs()) {
      const uint32_t at = index++;
      if (!port.bindable() || port.bytes() > kMaxBound) continue;
      std::vector<uint8_t>& memory = bound_[at];
      memory.resize(port.bytes());
      const wasinn_tensor tensor = {.struct_size = sizeof tensor,
                                    .dtype = port.io.dtype,
                                    .rank = static_cast<uint32_t>(port.dims.size()),
                                    .dims = port.dims.data(),
                                    .data = memory.data(),
                                    .bytes = memory.size()};
      outputs_.Bind(at, tensor);
    }
  }
  void ReadOutputs(uint64_t most) {
    uint64_t own = 0;
    const size_t count = signature_.knows_outputs() ? signature_.outputs().size() : outputs_.Ios().size();
    for (uint32_t i = 0; i < count; ++i) {
      if (const auto found = bound_.find(i); found != bound_.end()) {
        bytes_.emplace_back(found->second.begin(), found->second.end());
        continue;
      }
      const wasinn_io& io = signature_.knows_outputs() ? signature_.outputs()[i].io : *outputs_.Ios()[i];
      if ((io.flags & WASINN_IO_UNSERVABLE) != 0) continue;
      wasinn_tensor view = {};
      FUZZ_EXPECT(CodeOf([&] { outputs_.View(i, &view); }) == WASINN_OK);
      FUZZ_EXPECT(backend::TensorBytes({view.dims, view.rank}, backend::ElementSize(view.dtype)) == view.bytes);
      own += view.bytes;
      bytes_.emplace_back(static_cast<const char*>(view.data), view.bytes);
    }
    FUZZ_EXPECT(most == 0 || own <= most);
  }

  const Signature& signature_;
  Outputs outputs_;
  std::map<uint32_t, std::vector<uint8_t>> bound_;
  std::vector<std::string> bytes_;
  std::string what_;
  wasinn_code code_ = WASINN_OK;
};

}  // namespace wasinn::fuzz
