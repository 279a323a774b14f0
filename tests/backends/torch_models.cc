#include "backends/torch_models.h"

#include <ATen/ops/from_blob.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/api/module.h>

#include <sstream>

namespace wasinn::test {

namespace {

// A tensor of floats.
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

namespace {

namespace jit = ::torch::jit;

const c10::TypePtr& Numbers() {
  static const c10::TypePtr type = c10::ListType::ofInts();
  return type;
}
at::Tensor Zero() { return ToTensor(Floats({1}, {0})); }
c10::impl::GenericList ListOfLists() {
  c10::impl::GenericList lists(Numbers());
  lists.push_back(c10::List<int64_t>());
  return lists;
}
c10::IValue Pair(const c10::IValue& first) { return c10::ivalue::Tuple::create({first, 1}); }
c10::TypePtr PairOf(const c10::TypePtr& first) { return c10::TupleType::create({first, c10::IntType::get()}); }
c10::IValue Dictionary(const c10::IValue& value, const c10::TypePtr& type) {
  c10::impl::GenericDict dictionary(c10::StringType::get(), type);
  dictionary.insert("all", value);
  return dictionary;
}
c10::TypePtr DictionaryOf(const c10::TypePtr& type) { return c10::DictType::create(c10::StringType::get(), type); }

// A model that has something of this type.
std::string Holding(const c10::TypePtr& type, const c10::IValue& held, const std::string& code) {
  jit::Module module("__torch__.Model");
  module.register_buffer("total", Zero());
  module.register_attribute("held", type, held);
  module.define(code);
  return Saved(module);
}
std::string Adds(const std::string& held) {
  return "def forward(self, x):\n    " + held + ".add_(x)\n    return " + held + " * 1\n";
}
std::string Appends(const std::string& held) {
  return "def forward(self, x):\n    " + held + ".append(int(x))\n    return x * 0 + sum(" + held + ")\n";
}
std::string AddsIf(const std::string& condition) {
  return "def forward(self, x):\n    if " + condition + ":\n        self.total.add_(x)\n    return self.total * 1\n";
}

std::string WithSubmodule(const jit::Module& inner) {
  jit::Module module("__torch__.Model");
  module.register_module("inner", inner);
  module.define("def forward(self, x):\n    return self.inner.forward(x)\n");
  return Saved(module);
}
std::string HoldingASubmodule() {
  jit::Module inner("__torch__.Inner");
  inner.register_buffer("total", Zero());
  inner.define(Adds("self.total"));
  return WithSubmodule(inner);
}
jit::Module InTraining() {
  jit::Module module("__torch__.Trained");
  module.register_buffer("total", Zero());
  module.register_attribute("training", c10::BoolType::get(), true);
  module.define(
      "def forward(self, x):\n    if self.training:\n        self.total.add_(x)\n    return self.total + x\n");
  return module;
}
std::string InTrainingOfATuple() {
  jit::Module inner("__torch__.Inner");
  inner.register_attribute("training", c10::BoolType::get(), true);
  return Holding(PairOf(inner.type()), Pair(inner._ivalue()), AddsIf("self.held[0].training"));
}
// An object that is no module.
std::string InTrainingOfAnObject() {
  const auto unit = std::make_shared<jit::CompilationUnit>();
  const auto type = c10::ClassType::create("__torch__.Mode", unit, /*is_module=*/false);
  type->addAttribute("training", c10::BoolType::get());
  unit->register_type(type);
  const auto mode = c10::ivalue::Object::create(c10::StrongTypePtr(unit, type), 1);
  mode->setSlot(0, true);
  return Holding(type, mode, AddsIf("self.held.training"));
}
// Dropout gives the constant itself.
std::string AddingToAConstant(bool through_dropout) {
  jit::Module module("__torch__.Model");
  module.define(through_dropout ? "def forward(self, x):\n    return torch.dropout(x, 0.5, False).add_(x) * 1\n"
                                : "def forward(self, x):\n    return x.add_(x) * 1\n");
  const auto graph = module.get_method("forward").graph();
  jit::Node* first = graph->outputs().at(0)->node()->input(0)->node();
  if (through_dropout) first = first->input(0)->node();
  const jit::WithInsertPoint before(first);
  first->replaceInput(0, graph->insertConstant(Zero()));
  return Saved(module);
}

}  // namespace

const std::vector<TorchKept>& TorchHolders() {
  using c10::ListType, c10::TensorType;
  static const std::vector<TorchKept> all = {
      {"ATensorInAList", true,
       [] { return Holding(ListType::ofTensors(), c10::List<at::Tensor>({Zero()}), Adds("self.held[0]")); }},
      {"ATensorInATuple", true, [] { return Holding(PairOf(TensorType::get()), Pair(Zero()), Adds("self.held[0]")); }},
      {"ATensorInADictionary", true,
       [] {
         return Holding(DictionaryOf(TensorType::get()), Dictionary(Zero(), TensorType::get()),
                        Adds("self.held[\"all\"]"));
       }},
      {"AListInAList", true,
       [] { return Holding(ListType::create(Numbers()), ListOfLists(), Appends("self.held[0]")); }},
      {"AListInATuple", true,
       [] { return Holding(PairOf(Numbers()), Pair(c10::List<int64_t>()), Appends("self.held[0]")); }},
      {"AListInADictionary", true,
       [] {
         return Holding(DictionaryOf(Numbers()), Dictionary(c10::List<int64_t>(), Numbers()),
                        Appends("self.held[\"all\"]"));
       }},
      {"AListInAnything", true,
       [] {
         return Holding(c10::AnyType::get(), ListOfLists(),
                        "def forward(self, x):\n    held = self.held\n    total = 0\n"
                        "    if isinstance(held, List[List[int]]):\n        held[0].append(int(x))\n"
                        "        total = sum(held[0])\n    return x * 0 + total\n");
       }},
      {"ANumber", true,
       [] {
         return Holding(c10::FloatType::get(), 0.0,
                        "def forward(self, x):\n    self.held += float(x)\n    return x * 0 + self.held\n");
       }},
      {"ASubmodule", true, HoldingASubmodule},
      // Models are in evaluation.
      {"WhatIsWrittenInTraining", false, [] { return Saved(InTraining()); }},
      {"WhatIsWrittenInTrainingOfASubmodule", false, [] { return WithSubmodule(InTraining()); }},
      // If no module says so, they are not.
      {"WhatIsWrittenInTrainingOfATuple", true, InTrainingOfATuple},
      {"WhatIsWrittenInTrainingOfAnObject", true, InTrainingOfAnObject},
      // Each run begins with the constants of the file.
      {"AConstant", false, [] { return AddingToAConstant(false); }},
      {"AConstantThroughDropout", false, [] { return AddingToAConstant(true); }}};
  return all;
}

std::string TorchReader() {
  jit::Module module("__torch__.Model");
  c10::impl::GenericList lists = ListOfLists();
  lists.push_back(c10::List<int64_t>({2, 4}));
  module.register_attribute("lists", c10::ListType::create(Numbers()), lists);
  module.register_attribute("held", c10::ListType::ofTensors(), c10::List<at::Tensor>({ToTensor(Floats({1}, {1}))}));
  // It writes only to lists of its own, though these may hold tensors of the model.
  module.define(
      "def forward(self, x):\n    tensors = [x, self.held[0]]\n    tensors.append(self.held[0] * 0)\n"
      "    numbers = [0]\n    for n in self.lists[1]:\n        numbers.append(n)\n"
      "    return tensors[0] + tensors[1] + tensors[2] + sum(numbers)\n");
  return Saved(module);
}

std::string TorchHeldList(const std::string& code) {
  return Holding(c10::ListType::ofTensors(), c10::List<at::Tensor>({Zero(), ToTensor(Floats({1}, {1}))}), code);
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

std::string TorchHeldDevice(const std::string& device, const std::string& code) {
  return Holding(c10::DeviceObjType::get(), c10::Device(device), code);
}

std::string ZipArchive(const ZipEntries& entries, uint64_t version) {
  std::string bytes;
  caffe2::serialize::PyTorchStreamWriter writer([&](const void* data, size_t size) {
    bytes.append(static_cast<const char*>(data), size);
    return size;
  });
  writer.setMinVersion(version);
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
