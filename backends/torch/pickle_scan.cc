#include "torch/pickle_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "common/error.h"

namespace wasinn::torch {

using backend::Error;

namespace {

constexpr size_t kDeepest = 200;

// What an unpickler of TorchScript makes besides the archive's own classes (__torch__.…).
constexpr std::string_view kClasses[] = {
    "collections.OrderedDict",
    "torch._utils._rebuild_tensor_v2",
    "torch._utils._rebuild_qtensor",
    "torch.device",
    "torch.jit._pickle.build_boollist",
    "torch.jit._pickle.build_doublelist",
    "torch.jit._pickle.build_intlist",
    "torch.jit._pickle.build_tensor_from_id",
    "torch.jit._pickle.build_tensorlist",
    "torch.jit._pickle.restore_type_tag",
    "torch.per_tensor_affine",
    "torch.per_channel_affine",
};

bool IsStorage(std::string_view name) {
  return name.starts_with("torch.") && name.ends_with("Storage") && std::ranges::count(name, '.') == 1;
}

bool IsKnown(std::string_view name) {
  if (name.starts_with("__torch__.torch.classes.")) return false;  // PyTorch's own classes in C++
  return name.starts_with("__torch__.") || IsStorage(name) || std::ranges::find(kClasses, name) != std::end(kClasses);
}

// The depth of each value is all that is kept of it.
class PickleScanner {
 public:
  PickleScanner(const std::string& name, std::span<const uint8_t> bytes) : name_(name), bytes_(bytes) {}

  void Run() {
    while (!Step(Number<uint8_t>())) {
    }
  }

 private:
  [[noreturn]] void Broken(const char* why) const {
    throw Error(WASINN_INVALID_ENCODING, fmt::format("'{}' is broken: {}", name_, why));
  }

  std::span<const uint8_t> Take(uint64_t size) {
    if (size > bytes_.size() - at_) Broken("it ends too early");
    at_ += size;
    return bytes_.subspan(at_ - size, size);
  }
  template <typename T>
  T Number() {
    T value;
    std::memcpy(&value, Take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string Line() {
    std::string line;
    for (uint8_t c = Number<uint8_t>(); c != '\n'; c = Number<uint8_t>()) line.push_back(static_cast<char>(c));
    return line;
  }

  void Push(size_t depth) {
    if (depth > kDeepest) {
      throw Error(WASINN_SECURITY,
                  fmt::format("'{}' has values nested more than {} deep: not loaded from a guest", name_, kDeepest));
    }
    stack_.push_back(depth);
  }
  size_t Pop() {
    if (stack_.empty()) Broken("a value is missing");
    const size_t depth = stack_.back();
    stack_.pop_back();
    return depth;
  }
  // Takes `n` values and makes one of them.
  void Combine(size_t n) {
    size_t depth = 0;
    for (size_t i = 0; i < n; ++i) depth = std::max(depth, Pop());
    Push(depth + 1);
  }
  size_t SinceMark() {
    if (marks_.empty() || marks_.back() > stack_.size()) Broken("a mark is missing");
    const size_t n = stack_.size() - marks_.back();
    marks_.pop_back();
    return n;
  }
  void Put(uint64_t index) {
    // Each is put with two bytes at least, one after the other, so that the memo is no larger than the pickle.
    if (stack_.empty() || index >= bytes_.size()) Broken("a memo is wrong");
    if (index >= memo_.size()) memo_.resize(index + 1, 0);
    memo_[index] = stack_.back();
  }
  void Get(uint64_t index) {
    if (index >= memo_.size()) Broken("a memo is missing");
    Push(memo_[index]);
  }
  void Global() {
    const std::string module = Line();
    const std::string full = module + "." + Line();
    if (!IsKnown(full)) {
      throw Error(WASINN_SECURITY, fmt::format("'{}' asks for '{}': not loaded from a guest", name_, full));
    }
    Push(1);
  }

  // True at the end.
  bool Step(uint8_t op) {
    switch (op) {
      case 0x80:  // PROTO
        Take(1);
        return false;
      case '.':  // STOP
        return true;
      case '(':
        marks_.push_back(stack_.size());
        return false;
      case 'c':
        Global();
        return false;
      case '}':   // EMPTY_DICT
      case ']':   // EMPTY_LIST
      case ')':   // EMPTY_TUPLE
      case 'N':   // NONE
      case 0x88:  // NEWTRUE
      case 0x89:  // NEWFALSE
        Push(1);
        return false;
      default:
        if (!StepNumber(op) && !StepContainer(op)) Broken("it has an instruction that TorchScript does not write");
        return false;
    }
  }

  bool StepNumber(uint8_t op) {
    switch (op) {
      case 'K':  // BININT1
        Take(1);
        break;
      case 'M':  // BININT2
        Take(2);
        break;
      case 'J':  // BININT
        Take(4);
        break;
      case 'G':  // BINFLOAT
        Take(8);
        break;
      case 0x8a:  // LONG1
        Take(Number<uint8_t>());
        break;
      case 'X':  // BINUNICODE
        Take(Number<uint32_t>());
        break;
      default:
        return false;
    }
    Push(1);
    return true;
  }

  bool StepContainer(uint8_t op) {
    switch (op) {
      case 'q':  // BINPUT
        Put(Number<uint8_t>());
        return true;
      case 'r':  // LONG_BINPUT
        Put(Number<uint32_t>());
        return true;
      case 'h':  // BINGET
        Get(Number<uint8_t>());
        return true;
      case 'j':  // LONG_BINGET
        Get(Number<uint32_t>());
        return true;
      case 't':  // TUPLE
      case 'l':  // LIST
      case 'd':  // DICT
        Combine(SinceMark());
        return true;
      case 0x85:  // TUPLE1 …
      case 0x86:
      case 0x87:
        Combine(op - 0x84u);
        return true;
      case 'e':  // APPENDS, SETITEMS: into what is under the mark
      case 'u':
        Combine(SinceMark() + 1);
        return true;
      case 's':  // SETITEM
        Combine(3);
        return true;
      case 'a':  // APPEND, BUILD, REDUCE, NEWOBJ
      case 'b':
      case 'R':
      case 0x81:
        Combine(2);
        return true;
      case 'Q':  // BINPERSID
        Pop();
        Push(1);
        return true;
      default:
        return false;
    }
  }

  const std::string& name_;
  const std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  std::vector<size_t> stack_, marks_, memo_;
};

}  // namespace

void ScanPickle(const std::string& name, std::span<const uint8_t> bytes) { PickleScanner(name, bytes).Run(); }

}  // namespace wasinn::torch
