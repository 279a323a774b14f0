// Models whose tables share so much that a small file has a great deal to be looked at.
#include "tflite/model_scan.h"

#include "backends/thrown.h"

namespace wasinn::tflite {
namespace {

// A FlatBuffer from its parts, parents first, for offsets point forward.
class Parts {
 public:
  Parts() : bytes_(8) {}

  // A table with these fields, ascending, each an offset or a number of 32 bits. Returns where the first one lies.
  size_t Table(const std::vector<int>& fields) {
    while ((bytes_.size() + 4 + 2 * (static_cast<size_t>(fields.back()) + 1)) % 4 != 0) bytes_.push_back(0);
    const size_t vtable = bytes_.size();
    Put<uint16_t>(static_cast<uint16_t>(4 + 2 * (fields.back() + 1)));
    Put<uint16_t>(static_cast<uint16_t>(4 + 4 * fields.size()));
    for (int field = 0; field <= fields.back(); ++field) {
      const auto found = std::ranges::find(fields, field);
      Put<uint16_t>(found == fields.end() ? 0 : static_cast<uint16_t>(4 + 4 * (found - fields.begin())));
    }
    const size_t table = bytes_.size();
    Put<int32_t>(static_cast<int32_t>(table - vtable));
    bytes_.resize(bytes_.size() + 4 * fields.size());
    return table + 4;
  }
  // Returns where it lies; its elements begin 4 bytes later.
  size_t Vector(size_t count, size_t element_size) {
    while (bytes_.size() % 4 != 0) bytes_.push_back(0);
    const size_t at = bytes_.size();
    Put<uint32_t>(static_cast<uint32_t>(count));
    bytes_.resize(bytes_.size() + count * element_size + 1);  // a text has a byte 0 behind it
    return at;
  }
  void Point(size_t from, size_t to) {
    const auto offset = static_cast<uint32_t>(to - from);
    std::memcpy(&bytes_[from], &offset, sizeof(offset));
  }
  void Set(size_t at, int32_t number) { std::memcpy(&bytes_[at], &number, sizeof(number)); }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  template <typename Number>
  void Put(Number number) {
    const auto* from = reinterpret_cast<const uint8_t*>(&number);
    bytes_.insert(bytes_.end(), from, from + sizeof(number));
  }

  std::vector<uint8_t> bytes_;
};

struct Sizes {
  size_t tensors = 1, dims = 1, outputs = 1, name = 1, taken = 0;
};

// A graph with many tensors that are one, which is many outputs, and which one operator takes many times.
std::vector<uint8_t> Shared(const Sizes& sizes) {
  Parts parts;
  const size_t model = parts.Table({1, 2});
  parts.Point(0, model - 4);
  const size_t codes = parts.Vector(1, 4);
  parts.Point(model, codes);
  parts.Point(codes + 4, parts.Table({0}) - 4);
  const size_t graphs = parts.Vector(1, 4);
  parts.Point(model + 4, graphs);
  const size_t graph = parts.Table({0, 2, 3});
  parts.Point(graphs + 4, graph - 4);
  const size_t tensors = parts.Vector(sizes.tensors, 4);
  parts.Point(graph, tensors);
  parts.Point(graph + 4, parts.Vector(sizes.outputs, 4));
  const size_t operators = parts.Vector(sizes.taken > 0 ? 1 : 0, 4);
  parts.Point(graph + 8, operators);
  if (sizes.taken > 0) {
    const size_t op = parts.Table({0, 1});
    parts.Point(operators + 4, op - 4);
    parts.Point(op + 4, parts.Vector(sizes.taken, 4));
  }
  const size_t tensor = parts.Table({0, 3});
  for (size_t i = 0; i < sizes.tensors; ++i) parts.Point(tensors + 4 + 4 * i, tensor - 4);
  parts.Point(tensor, parts.Vector(sizes.dims, 4));
  parts.Point(tensor + 4, parts.Vector(sizes.name, 1));
  return parts.bytes();
}

wasinn_code Scan(const Sizes& sizes, ModelScan* scan = nullptr) {
  return test::ThrownBy([&] {
           ModelScan result = ScanModel(Shared(sizes), Trust::kGuest);
           if (scan != nullptr) *scan = std::move(result);
         })
      .code;
}

TEST(TfLiteScan, SharedTablesAreRead) {
  ModelScan scan;
  ASSERT_EQ(Scan({.tensors = 100, .dims = 4, .outputs = 50, .name = 20}, &scan), WASINN_OK);
  EXPECT_EQ(scan.tensors, 100u);
  ASSERT_EQ(scan.outputs.size(), 50u);
  EXPECT_EQ(scan.outputs[49].shape, std::vector<int32_t>(4));
  EXPECT_EQ(scan.outputs[49].name.size(), 20u);
}

// A shape is looked at once for each tensor, not for each operator that takes it: that would be days.
TEST(TfLiteScan, ALongShapeThatIsTakenOften) {
  EXPECT_EQ(Scan({.dims = 2'000'000, .outputs = 0, .taken = 2'000'000}), WASINN_OK);
}

// Many tensors that have one block of empty strings.
std::vector<uint8_t> Strings(size_t tensors, int32_t count) {
  Parts parts;
  const size_t model = parts.Table({1, 2, 4});
  parts.Point(0, model - 4);
  parts.Point(model, parts.Vector(0, 4));
  const size_t graphs = parts.Vector(1, 4);
  parts.Point(model + 4, graphs);
  const size_t graph = parts.Table({0});
  parts.Point(graphs + 4, graph - 4);
  const size_t list = parts.Vector(tensors, 4);
  parts.Point(graph, list);
  const size_t buffers = parts.Vector(1, 4);
  parts.Point(model + 8, buffers);
  const size_t buffer = parts.Table({0});
  parts.Point(buffers + 4, buffer - 4);
  const size_t tensor = parts.Table({0, 1, 2});
  for (size_t i = 0; i < tensors; ++i) parts.Point(list + 4 + 4 * i, tensor - 4);
  const size_t shape = parts.Vector(1, 4);
  parts.Point(tensor, shape);
  parts.Set(shape + 4, count);
  parts.Set(tensor + 4, 5);  // strings
  const size_t block = parts.Vector(4 * (static_cast<size_t>(count) + 2), 1);
  parts.Point(buffer, block);
  parts.Set(block + 4, count);
  for (int32_t i = 0; i <= count; ++i) parts.Set(block + 8 + 4 * static_cast<size_t>(i), 4 * (count + 2));
  return parts.bytes();
}

// Each time it would be days.
TEST(TfLiteScan, StringsOfManyTensorsAreReadOnce) {
  EXPECT_EQ(test::ThrownBy([] { (void)ScanModel(Strings(900'000, 1'000'000), Trust::kGuest); }).code, WASINN_OK);
}

}  // namespace
}  // namespace wasinn::tflite
