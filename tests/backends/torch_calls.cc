#include "backends/torch_calls.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>

namespace wasinn::test {
namespace {

namespace jit = ::torch::jit;
using c10::IValue, c10::TypeKind;

// Operators look at these: how many dimensions there are, whether they are 1, the type and the layout.
std::vector<std::function<at::Tensor()>> Makers() {
  std::vector<std::function<at::Tensor()>> makers;
  for (const std::vector<int64_t>& sizes :
       std::vector<std::vector<int64_t>>{{}, {1}, {2}, {1, 2, 2}, {1, 1, 2, 2}, {1, 1, 1, 2, 2}}) {
    makers.emplace_back([sizes] { return at::ones(sizes); });
  }
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kChar, at::kByte, at::kShort, at::kInt,
                                    at::kLong, at::kBool, at::kComplexFloat}) {
    makers.emplace_back([type] { return at::ones({2, 2}, type); });
  }
  makers.emplace_back([] { return at::ones({1}, at::kLong); });
  makers.emplace_back([] { return at::quantize_per_tensor(at::ones({2, 2}), 0.5, 0, at::kQInt8); });
  makers.emplace_back([] { return at::ones({2, 2}).to_sparse(); });
  makers.emplace_back([] { return at::ones({2, 2}).to_sparse_csr(); });
  return makers;
}

// The arguments of one call: those of the same number are the same in each process. In every other call all tensors are of one kind.
class Arguments {
 public:
  explicit Arguments(size_t call)
      : random_(static_cast<uint32_t>(call)),
        defaults_(call % 3 != 0),
        kind_(call / 2 % makers_.size()),
        mixed_(call % 2 == 1) {}

  // None if a call cannot have that type.
  std::optional<IValue> Of(const c10::Argument& argument) {
    if (argument.default_value() && defaults_) return argument.default_value();
    const auto value = Of(argument.type(), argument.real_type());
    return value ? value : argument.default_value();
  }

 private:
  size_t Below(size_t n) { return random_() % n; }
  template <typename Value>
  Value OneOf(std::initializer_list<Value> values) {
    return values.begin()[Below(values.size())];
  }

  at::Tensor Tensor() {
    const at::Tensor made = makers_[first_ || !mixed_ ? kind_ : Below(makers_.size())]();
    if (std::exchange(first_, false)) type_ = made.scalar_type(), sizes_ = made.sizes().vec();
    return made;
  }

  std::optional<IValue> Of(const c10::TypePtr& type, const c10::TypePtr& real) {
    switch (type->kind()) {
      case TypeKind::TensorType:
        return Tensor();
      case TypeKind::IntType:
        if (real->kind() == TypeKind::ScalarTypeType) return static_cast<int64_t>(OneOf({type_, at::kDouble}));
        return OneOf<int64_t>({0, 1, 2});
      case TypeKind::FloatType:
        return OneOf({0.0, 0.5, 1.0});
      case TypeKind::BoolType:
        return Below(2) == 1;
      case TypeKind::NumberType:
        return OneOf<IValue>({int64_t{1}, 0.0, 1.0});
      case TypeKind::StringType:
        return OneOf<std::string>({"i->i", "none", "mean"});
      case TypeKind::DeviceObjType:
        return c10::Device("cpu");
      case TypeKind::OptionalType: {
        const auto given = real->cast<c10::OptionalType>();
        const c10::TypePtr& inner = type->expectRef<c10::OptionalType>().getElementType();
        if (Below(2) == 0) return IValue();
        return Of(inner, given == nullptr ? inner : given->getElementType());
      }
      case TypeKind::ListType:
        return ListOf(type->expectRef<c10::ListType>().getElementType());
      default:
        return std::nullopt;
    }
  }

  std::optional<IValue> ListOf(const c10::TypePtr& type) {
    if (type->kind() == TypeKind::IntType && Below(2) == 0) return sizes_;
    c10::impl::GenericList list(type);
    const size_t n = type->kind() == TypeKind::TensorType ? 1 + Below(2) : Below(3);
    for (size_t i = 0; i < n; ++i) {
      const auto value = Of(type, type);
      if (!value) return std::nullopt;
      list.push_back(*value);
    }
    return list;
  }

  const std::vector<std::function<at::Tensor()>> makers_ = Makers();
  std::mt19937 random_;
  const bool defaults_;
  const size_t kind_;
  const bool mixed_;
  bool first_ = true;
  at::ScalarType type_ = at::kFloat;
  std::vector<int64_t> sizes_;
};

std::vector<at::Tensor> TensorsIn(const IValue& value) {
  if (value.isTensor()) return {value.toTensor()};
  std::vector<at::Tensor> all;
  if (!value.isList()) return all;
  for (const IValue& one : value.toListRef()) {
    if (one.isTensor()) all.push_back(one.toTensor());
  }
  return all;
}

std::vector<c10::Storage> MemoryOf(const IValue& value) {
  std::vector<c10::Storage> all;
  const auto add = [&all](const std::vector<at::Tensor>& parts) {
    for (const at::Tensor& part : parts) all.push_back(part.storage());
  };
  for (const at::Tensor& tensor : TensorsIn(value)) {
    if (!tensor.defined()) continue;
    if (tensor.layout() == at::kSparse)
      add({tensor._indices(), tensor._values()});
    else if (tensor.layout() == at::kSparseCsr)
      add({tensor.crow_indices(), tensor.col_indices(), tensor.values()});
    else if (tensor.has_storage())
      add({tensor});
  }
  return all;
}

// If a tensor is only copied when one writes to it, asking for memory to write to is enough.
bool Share(const IValue& one, const IValue& other) {
  for (const c10::Storage& first : MemoryOf(one)) {
    for (const c10::Storage& second : MemoryOf(other)) {
      if (first.nbytes() > 0 && second.nbytes() > 0 && first.mutable_data() == second.mutable_data()) return true;
    }
  }
  return false;
}

std::vector<std::string> Content(const IValue& value) {
  std::vector<std::string> all;
  for (const c10::Storage& memory : MemoryOf(value))
    all.emplace_back(static_cast<const char*>(memory.data()), memory.nbytes());
  return all;
}

// Throws if the operator does not take these arguments.
std::vector<Seen> Call(const jit::Operator& op, size_t call) {
  Arguments arguments(call);
  jit::Stack stack;
  for (const c10::Argument& argument : op.schema().arguments()) {
    const auto value = arguments.Of(argument);
    if (!value) return {};
    stack.push_back(*value);
  }
  const jit::Stack given = stack;
  std::vector<std::vector<std::string>> before;
  for (const IValue& value : given) before.push_back(Content(value));
  op.getOperation()(stack);
  std::vector<Seen> seen;
  for (size_t i = 0; i < given.size(); ++i) {
    const size_t of_list = given[i].isList() ? given[i].toListRef().size() : 0;
    if (Content(given[i]) != before[i]) seen.push_back({.argument = i, .of_list = of_list, .written = true});
    for (size_t j = 0; j < stack.size(); ++j) {
      if (Share(given[i], stack[j])) seen.push_back({.argument = i, .of_list = of_list, .result = j});
    }
  }
  return seen;
}

// So many that each operator that may share memory does so.
constexpr size_t kCalls = 120;

// Where a process is, and where the next one goes on.
struct Place {
  size_t op, call, deaths;
};

[[noreturn]] void CallOn(const std::vector<std::shared_ptr<jit::Operator>>& operators, Place* place,
                         int report) noexcept {
  const rlimit none{0, 0}, memory{8ull << 30, 8ull << 30}, seconds{60, 60};
  setrlimit(RLIMIT_CORE, &none);
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CPU, &seconds);
  const int null = open("/dev/null", O_WRONLY);
  if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0) _exit(1);
  const c10::InferenceMode as_the_backend;
  for (; place->op < operators.size(); *place = {place->op + 1, 0, 0}) {
    for (; place->call < kCalls; ++place->call) {
      try {
        for (Seen& seen : Call(*operators[place->op], place->call)) {
          seen.op = place->op;
          if (write(report, &seen, sizeof(seen)) != sizeof(seen)) _exit(1);
        }
      } catch (const std::exception&) {
        continue;
      }
    }
  }
  _exit(0);
}

}  // namespace

std::vector<std::shared_ptr<jit::Operator>> TensorOperators() {
  std::vector<std::shared_ptr<jit::Operator>> operators = jit::getAllOperators();
  std::erase_if(operators, [](const auto& op) {
    const auto& arguments = op->schema().arguments();
    return op->schema().name().starts_with("onnx::") || std::ranges::any_of(arguments, &c10::Argument::is_out) ||
           std::ranges::none_of(arguments, [](const auto& one) { return one.type()->str().contains("Tensor"); });
  });
  std::ranges::sort(operators, {},
                    [](const auto& op) { return std::pair(op->schema().name(), op->schema().overload_name()); });
  return operators;
}

std::vector<Seen> CallEach(const std::vector<std::shared_ptr<jit::Operator>>& operators) {
  at::set_num_threads(1);
  void* const shared = mmap(nullptr, sizeof(Place), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) std::abort();
  Place* const place = new (shared) Place{};
  std::vector<Seen> all;
  while (place->op < operators.size()) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    const pid_t child = fork();
    if (child == 0) CallOn(operators, place, ends[1]);
    close(ends[1]);
    for (Seen seen; read(ends[0], &seen, sizeof(seen)) == sizeof(seen);) all.push_back(seen);
    close(ends[0]);
    waitpid(child, nullptr, 0);
    if (place->op < operators.size())
      *place = ++place->deaths < 4 ? Place{place->op, place->call + 1, place->deaths} : Place{place->op + 1, 0, 0};
  }
  munmap(shared, sizeof(Place));
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

}  // namespace wasinn::test
