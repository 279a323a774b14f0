#include "backends/torch_models.h"

#include <ATen/ops/from_blob.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/api/module.h>

#include <sstream>

namespace wasinn::test {

namespace {

// Of floats.
at::Tensor ToTensor(const Tensor& tensor) {
  return at::from_blob(const_cast<char*>(tensor.bytes.data()), tensor.dims, at::TensorOptions(c10::kFloat)).clone();
}

std::string Saved(const ::torch::jit::Module& module) {
  std::ostringstream stream;
  module.save(stream);
  return stream.str();
}

class StringReader final : public caffe2::serialize::ReadAdapterInterface {
 public:
  explicit StringReader(std::string bytes) : bytes_(std::move(bytes)) {}
  size_t size() const override { return bytes_.size(); }
  size_t read(uint64_t at, void* to, size_t n, const char*) const override {
    return bytes_.copy(static_cast<char*>(to), n, at);
  }

 private:
  const std::string bytes_;
};

}  // namespace

std::string TorchHolder(Holder holder) {
  namespace jit = ::torch::jit;
  jit::Module module("__torch__.Model");
  const at::Tensor zero = ToTensor(Floats({1}, {0}));
  const auto forward = [&module](const std::string& held) {
    module.define("def forward(self, x):\n    " + held + ".add_(x)\n    return " + held + " * 1\n");
  };
  const auto append = [&module](const std::string& held) {
    module.define("def forward(self, x):\n    " + held + ".append(int(x))\n    return x * 0 + sum(" + held + ")\n");
  };
  const c10::TypePtr numbers = c10::ListType::ofInts();
  const c10::List<int64_t> none;
  c10::impl::GenericList lists(numbers);
  lists.push_back(none);
  switch (holder) {
    case Holder::kListOfLists:
      module.register_attribute("held", c10::ListType::create(numbers), lists);
      append("self.held[0]");
      break;
    case Holder::kListInATuple:
      module.register_attribute("held", c10::TupleType::create({numbers, c10::IntType::get()}),
                                c10::ivalue::Tuple::create({none, 1}));
      append("self.held[0]");
      break;
    case Holder::kListInADictionary: {
      c10::impl::GenericDict held(c10::StringType::get(), numbers);
      held.insert("all", none);
      module.register_attribute("held", c10::DictType::create(c10::StringType::get(), numbers), held);
      append("self.held[\"all\"]");
      break;
    }
    case Holder::kListInAnything:
      module.register_attribute("held", c10::AnyType::get(), lists);
      module.define(
          "def forward(self, x):\n    held = self.held\n    total = 0\n    if isinstance(held, List[List[int]]):\n"
          "        held[0].append(int(x))\n        total = sum(held[0])\n    return x * 0 + total\n");
      break;
    case Holder::kRead:
      lists.push_back(c10::List<int64_t>({2, 4}));
      module.register_attribute("lists", c10::ListType::create(numbers), lists);
      module.register_attribute("held", c10::ListType::ofTensors(),
                                c10::List<at::Tensor>({ToTensor(Floats({1}, {1}))}));
      // What it writes to is its own, though it may hold what the model has.
      module.define(
          "def forward(self, x):\n    tensors = [x, self.held[0]]\n    tensors.append(self.held[0] * 0)\n"
          "    numbers = [0]\n    for n in self.lists[1]:\n        numbers.append(n)\n"
          "    return tensors[0] + tensors[1] + tensors[2] + sum(numbers)\n");
      break;
    case Holder::kList:
      module.register_attribute("held", c10::ListType::ofTensors(), c10::List<at::Tensor>({zero}));
      forward("self.held[0]");
      break;
    case Holder::kTuple:
      module.register_attribute("held", c10::TupleType::create({c10::TensorType::get(), c10::IntType::get()}),
                                c10::ivalue::Tuple::create({zero, 1}));
      forward("self.held[0]");
      break;
    case Holder::kDictionary: {
      c10::Dict<std::string, at::Tensor> held;
      held.insert("total", zero);
      module.register_attribute("held", c10::DictType::create(c10::StringType::get(), c10::TensorType::get()), held);
      forward("self.held[\"total\"]");
      break;
    }
    case Holder::kNumber:
      module.register_attribute("total", c10::FloatType::get(), 0.0);
      module.define("def forward(self, x):\n    self.total += float(x)\n    return x * 0 + self.total\n");
      break;
    case Holder::kSubmodule: {
      jit::Module inner("__torch__.Inner");
      inner.register_buffer("total", zero);
      inner.define("def forward(self, x):\n    self.total += x\n    return self.total * 1\n");
      module.register_module("inner", inner);
      module.define("def forward(self, x):\n    return self.inner.forward(x)\n");
      break;
    }
    case Holder::kTraining:
      module.register_buffer("total", zero);
      module.register_attribute("training", c10::BoolType::get(), true);
      module.define(
          "def forward(self, x):\n    if self.training:\n        self.total.add_(x)\n    return self.total + x\n");
      break;
    case Holder::kTrainingOfTuple: {
      jit::Module inner("__torch__.Inner");
      inner.register_attribute("training", c10::BoolType::get(), true);
      module.register_buffer("total", zero);
      module.register_attribute("held", c10::TupleType::create({inner.type(), c10::IntType::get()}),
                                c10::ivalue::Tuple::create({inner._ivalue(), 1}));
      module.define(
          "def forward(self, x):\n    if self.held[0].training:\n        self.total.add_(x)\n"
          "    return self.total * 1\n");
      break;
    }
    case Holder::kTrainingOfAnObject: {
      const auto unit = std::make_shared<jit::CompilationUnit>();
      const auto type = c10::ClassType::create("__torch__.Mode", unit, /*is_module=*/false);
      type->addAttribute("training", c10::BoolType::get());
      unit->register_type(type);
      const auto mode = c10::ivalue::Object::create(c10::StrongTypePtr(unit, type), 1);
      mode->setSlot(0, true);
      module.register_buffer("total", zero);
      module.register_attribute("mode", type, mode);
      module.define(
          "def forward(self, x):\n    if self.mode.training:\n        self.total.add_(x)\n"
          "    return self.total * 1\n");
      break;
    }
    case Holder::kConstant:
    case Holder::kConstantThroughDropout: {
      const bool dropout = holder == Holder::kConstantThroughDropout;
      module.define(dropout ? "def forward(self, x):\n    return torch.dropout(x, 0.5, False).add_(x) * 1\n"
                            : "def forward(self, x):\n    return x.add_(x) * 1\n");
      const auto graph = module.get_method("forward").graph();
      jit::Node* first = graph->outputs().at(0)->node()->input(0)->node();
      if (dropout) first = first->input(0)->node();
      const jit::WithInsertPoint before(first);
      first->replaceInput(0, graph->insertConstant(zero));
      break;
    }
  }
  return Saved(module);
}

std::string TorchHeldList(const std::string& code) {
  ::torch::jit::Module module("__torch__.Model");
  const c10::List<at::Tensor> held({ToTensor(Floats({1}, {0})), ToTensor(Floats({1}, {1}))});
  module.register_attribute("held", c10::ListType::ofTensors(), held);
  module.define(code);
  return Saved(module);
}

std::string TorchListConstant() {
  // Beyond ASCII, so that the word is in the table of constants.
  ZipEntries entries = UnzipModel(TorchModel("def forward(self, x):\n    return x * 0 + len([\"\u00e9\"][0])\n"));
  // In its place comes a list of one number.
  const std::string word = "X" + std::string("\x02\0\0\0", 4) + "\u00e9";
  const auto replace = [](std::string* text, const std::string& from, const std::string& to) {
    text->replace(text->find(from), from.size(), to);
  };
  for (auto& [name, bytes] : entries) {
    if (name == "constants.pkl") replace(&bytes, word, "ctorch.jit._pickle\nbuild_intlist\n(](K\1etR");
    if (name != "code/__torch__.py") continue;
    bytes.resize(bytes.find("    _0"));
    bytes +=
        "    held = CONSTANTS.c0\n    _0 = torch.append(held, 7)\n"
        "    return torch.add(torch.mul(x, 0), torch.len(held))\n";
  }
  return ZipArchive(entries);
}

std::string TorchModel(const std::string& code, const std::vector<std::pair<std::string, Tensor>>& buffers) {
  ::torch::jit::Module module("__torch__.Model");
  for (const auto& [name, tensor] : buffers) module.register_buffer(name, ToTensor(tensor));
  module.define(code);
  return Saved(module);
}

std::string ZipArchive(const ZipEntries& entries) {
  std::string bytes;
  caffe2::serialize::PyTorchStreamWriter writer([&](const void* data, size_t size) {
    bytes.append(static_cast<const char*>(data), size);
    return size;
  });
  for (const auto& [name, content] : entries) {
    if (name == "version" || name == "byteorder" || name == ".data/serialization_id") continue;  // it writes these
    writer.writeRecord(name, content.data(), content.size());
  }
  writer.writeEndOfFile();
  return bytes;
}

ZipEntries UnzipModel(const std::string& bytes) {
  caffe2::serialize::PyTorchStreamReader reader(std::make_shared<StringReader>(bytes));
  ZipEntries entries;
  for (const std::string& name : reader.getAllRecords()) {
    const auto [data, size] = reader.getRecord(name);
    entries.emplace_back(name, std::string(static_cast<const char*>(data.get()), size));
  }
  return entries;
}

}  // namespace wasinn::test
