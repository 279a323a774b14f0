#include <wasinn/wit.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "bench/direct_guest.h"
#include "bench/soak/guest.h"

namespace wasinn::soak {
namespace {

// Numbers of wasi-nn.witx.
constexpr uint32_t kRecognise = 5, kCpu = 0;
constexpr uint8_t kF32 = 1, kU8 = 3;

using bench::Find;

class Module : public Inferer {
 public:
  explicit Module(wasinn_guest* guest) : guest_(guest), memory_(kData + kMaxOutput) {}

  void Load(const Model& model, const std::optional<std::string>& name) override {
    if (name) {
      Put(kData, name->data(), name->size());
      Call(load_by_name_, {kData, static_cast<uint32_t>(name->size()), kResult});
    } else {
      const uint32_t parts = PutParts(model);
      Call(load_, {kList, parts, std::min(model.encoding(), kRecognise), kCpu, kResult});
    }
    Call(init_, {Word(kResult), kResult});
    context_ = Word(kResult);
  }

  std::vector<uint8_t> Infer(const Question& question) override {
    SetInput(0, question.dims, question.is_text ? kU8 : kF32, question.input);
    const std::span options(reinterpret_cast<const uint8_t*>(question.options.data()), question.options.size());
    if (!options.empty()) SetInput(1, {static_cast<uint32_t>(options.size())}, kU8, options);
    Call(compute_, {context_});
    Call(get_output_, {context_, 0, kData, kMaxOutput, kResult});
    return {memory_.begin() + kData, memory_.begin() + kData + Word(kResult)};
  }

  // wasi-nn has no call for it: the objects of a module are released with its guest.
  void Unload() override { wasinn_guest_close(guest_); }

 private:
  static constexpr uint32_t kResult = 8, kTensor = 16, kList = 64, kData = 1024, kMaxOutput = 4096;

  void SetInput(uint32_t index, const std::vector<uint32_t>& dims, uint8_t type, std::span<const uint8_t> bytes) {
    const auto rank = static_cast<uint32_t>(dims.size()), size = static_cast<uint32_t>(bytes.size());
    const uint32_t tensor[] = {kList, rank, type, kData, size};
    Put(kList, dims.data(), dims.size() * sizeof(uint32_t));
    Put(kData, bytes.data(), size);
    Put(kTensor, tensor, sizeof(tensor));
    Call(set_input_, {context_, index, kTensor});
  }
  // Writes the list of the model's parts, and returns their number.
  uint32_t PutParts(const Model& model) {
    uint32_t end = kData, at = kList;
    for (const std::vector<uint8_t>& part : model.parts()) {
      const uint32_t place[] = {end, static_cast<uint32_t>(part.size())};
      if (memory_.size() < end + part.size()) memory_.resize(end + part.size());
      Put(at, place, sizeof(place));
      Put(end, part.data(), part.size());
      at += sizeof(place);
      end += static_cast<uint32_t>(part.size());
    }
    return static_cast<uint32_t>(model.parts().size());
  }
  void Put(uint32_t address, const void* bytes, size_t size) {
    if (size > 0) std::memcpy(&memory_.at(address), bytes, size);
  }
  uint32_t Word(uint32_t address) const {
    uint32_t word = 0;
    std::memcpy(&word, &memory_[address], sizeof(word));
    return word;
  }
  void Call(const wasinn_function& function, const std::vector<uint64_t>& args) {
    wasinn_memory memory{};
    memory.struct_size = sizeof(memory);
    memory.base = memory_.data();
    memory.size = memory_.size();
    if (function.call(guest_, &memory, args.data(), sizeof(uint64_t)) == 0) return;
    wasinn_wit_view why{};
    const Status status(wasinn_wit()->last_error(guest_, &why));
    if (!status.ok()) throw Failed(status.message());
    const std::string text(static_cast<const char*>(why.data), why.count);
    why.release(why.owner);
    throw Failed(text);
  }

  const wasinn_function &load_ = Find("load"), &load_by_name_ = Find("load_by_name"),
                        &init_ = Find("init_execution_context"), &set_input_ = Find("set_input"),
                        &compute_ = Find("compute"), &get_output_ = Find("get_output");
  wasinn_guest* const guest_;
  std::vector<uint8_t> memory_;
  uint32_t context_ = 0;
};

}  // namespace

bool Failed::is_lost() const { return std::string_view(what()).find("worker is gone") != std::string_view::npos; }

std::unique_ptr<Inferer> AsModule(wasinn_guest* guest) { return std::make_unique<Module>(guest); }

}  // namespace wasinn::soak
