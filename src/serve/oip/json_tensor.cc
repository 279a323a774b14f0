#include "serve/oip/rest_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

namespace wasinn::serve {

namespace {

class JsonTensor {
 public:
  // Reads as many elements as its shape has into the tensor's own bytes, each as an exact element of its type, or as
  // the nearest float.
  JsonTensor(InputTensor& tensor, uint64_t elements) : tensor_(tensor), elements_(elements) {}
  // Throws Failure.
  void Read(simdjson::dom::element data) {
    try {
      if (!data.is_array()) {
        ReadNext(data);
      } else if (const simdjson::dom::array all = data.get_array(); all.size() > 0 && all.at(0).is_array()) {
        ReadNested(all, 0);
      } else {
        for (const simdjson::dom::element element : all) ReadNext(element);
      }
    } catch (const simdjson::simdjson_error&) {
      ThrowInvalid("input '{}': an element is not a valid {}", tensor_.name, tensor_.datatype->name);
    }
    if (n_read_ < elements_) ThrowInvalid("input '{}' has {} elements, not {}", tensor_.name, n_read_, elements_);
  }

 private:
  // `depth`: how many arrays are around it.
  void ReadNested(simdjson::dom::array data, size_t depth) {
    if (depth == tensor_.shape.size()) ThrowNesting();
    const bool is_innermost = depth + 1 == tensor_.shape.size();
    int64_t n = 0;
    for (const simdjson::dom::element element : data) {
      ++n;
      if (is_innermost) {
        ReadNext(element);
      } else if (element.is_array()) {
        ReadNested(element.get_array(), depth + 1);
      } else {
        ThrowNesting();
      }
    }
    if (n != tensor_.shape[depth]) ThrowNesting();
  }
  void ReadNext(simdjson::dom::element element) {
    if (element.is_array()) ThrowNesting();
    if (++n_read_ > elements_) ThrowInvalid("input '{}' has more than {} elements", tensor_.name, elements_);
    ReadElement(element);
  }
  [[noreturn]] void ThrowNesting() const {
    ThrowInvalid(
        "input '{}': the arrays of its data do not nest as its shape, [{}]; one array without others in it "
        "is right, too",
        tensor_.name, fmt::join(tensor_.shape, ", "));
  }
  void ReadElement(simdjson::dom::element element) {
    if (tensor_.datatype->size == 0) {
      if (!element.is_string()) ThrowInvalid("input '{}': an element of BYTES is a string", tensor_.name);
      const std::string_view text = element;
      return AppendElement(tensor_.own, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    }
    const bool is_in_json = oip::WithElementType(tensor_.datatype->dtype, [&]<typename T>(T /*type*/) {
      if constexpr (std::same_as<T, bool>) {
        AppendBool(element);
      } else if constexpr (std::floating_point<T>) {
        AppendFloat<T>(element);
      } else {
        AppendInteger<T>(element);
      }
    });
    if (is_in_json) return;
    ThrowInvalid("input '{}': JSON has no {}; send its bytes after the JSON (binary_data_size)", tensor_.name,
                 tensor_.datatype->name);
  }
  template <typename T>
  void Append(T number) {
    tensor_.own.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  // Clients that only have floats write 7 as 7.0, and true as 1.0.
  template <typename T>
  T Whole(simdjson::dom::element element) const {
    if (element.type() != simdjson::dom::element_type::DOUBLE) return static_cast<T>(element);
    // A double does not have all larger integers, so another number may have been written.
    constexpr double kMax = 1LL << std::numeric_limits<double>::digits;
    const double number = element;
    const bool fits = number >= (std::unsigned_integral<T> ? 0 : 1 - kMax) && number < kMax;
    if (fits && std::trunc(number) == number) return static_cast<T>(number);
    ThrowInvalid("input '{}': {} is not a valid {}", tensor_.name, number, tensor_.datatype->name);
  }
  template <typename T>
  void AppendInteger(simdjson::dom::element element) {
    using Widest = std::conditional_t<std::unsigned_integral<T>, uint64_t, int64_t>;
    const auto number = Whole<Widest>(element);
    if (number < std::numeric_limits<T>::min() || number > std::numeric_limits<T>::max()) {
      ThrowInvalid("input '{}': {} is not a valid {}", tensor_.name, number, tensor_.datatype->name);
    }
    Append(static_cast<T>(number));
  }
  template <typename T>
  void AppendFloat(simdjson::dom::element element) {
    if (element.is_null() || element.is_string()) {  // forms of NaN and both infinities
      ThrowInvalid(
          "input '{}': {} is not a valid {}; send NaN and infinities as bytes after the JSON "
          "(binary_data_size)",
          tensor_.name, element.is_null() ? "null" : "a text", tensor_.datatype->name);
    }
    const double number = element;
    if (std::isinf(static_cast<T>(number))) {
      ThrowInvalid("input '{}': {} is not a valid {}", tensor_.name, number, tensor_.datatype->name);
    }
    Append(static_cast<T>(number));
  }
  void AppendBool(simdjson::dom::element element) {
    if (element.type() == simdjson::dom::element_type::BOOL)
      return Append(static_cast<uint8_t>(static_cast<bool>(element)));
    const auto number = Whole<int64_t>(element);
    if (number != 0 && number != 1) ThrowInvalid("input '{}': {} is not a valid BOOL", tensor_.name, number);
    Append(static_cast<uint8_t>(number));
  }

  InputTensor& tensor_;
  const uint64_t elements_;
  uint64_t n_read_ = 0;
};

template <typename T>
T ElementAt(std::span<const uint8_t> bytes, size_t i) {
  T element;
  std::memcpy(&element, bytes.data() + i * sizeof element, sizeof element);
  return element;
}

[[noreturn]] void ThrowNotInJson(const OutputTensor& tensor, std::string_view what) {
  ThrowInvalid(
      "output '{}' has {}, which JSON has not: ask for binary data ({{\"name\": …, \"parameters\": "
      "{{\"binary_data\": true}}}} in \"outputs\", or \"binary_data_output\": true for all)",
      tensor.name, what);
}

// In pieces, so that all of them are in memory only once.
template <typename T>
void AppendNumbers(std::string& text, const OutputTensor& tensor) {
  const std::span<const uint8_t> bytes = tensor.bytes;
  constexpr size_t kPiece = 4096;
  fmt::memory_buffer numbers;
  for (size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    if (i > 0) numbers.push_back(',');
    if (numbers.size() > kPiece) {
      text.append(numbers.data(), numbers.size());
      numbers.clear();
    }
    const T number = ElementAt<T>(bytes, i);
    if constexpr (std::floating_point<T>) {
      if (!std::isfinite(number)) ThrowNotInJson(tensor, fmt::format("{}", number));
      if (number == 0 && std::signbit(number)) {  // "-0" would be read as an integer
        numbers.append(std::string_view("-0.0"));
        continue;
      }
    }
    fmt::format_to(std::back_inserter(numbers), "{}", number);
  }
  text.append(numbers.data(), numbers.size());
}

void AppendBools(std::string& text, std::span<const uint8_t> bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) text += ',';
    text += bytes[i] != 0 ? "true" : "false";
  }
}

void AppendTexts(std::string& text, const OutputTensor& tensor) {
  const auto elements = Elements(tensor.bytes);
  if (!elements)
    throw Failure{WASINN_ERROR_RUNTIME, fmt::format("output '{}' has bytes that are not BYTES", tensor.name)};
  for (const std::string_view element : *elements) {
    if (text.back() != '[') text += ',';
    if (!simdjson::validate_utf8(element)) ThrowNotInJson(tensor, "bytes that are not UTF-8");
    text += nlohmann::json(element).dump();
  }
}

void AppendElements(std::string& text, const OutputTensor& tensor) {
  const bool is_number = oip::WithElementType(tensor.datatype->dtype, [&]<typename T>(T /*type*/) {
    if constexpr (std::same_as<T, bool>) {
      AppendBools(text, tensor.bytes);
    } else {
      AppendNumbers<T>(text, tensor);
    }
  });
  if (!is_number) AppendTexts(text, tensor);
}

}  // namespace

void ReadJson(InputTensor& tensor, uint64_t elements, simdjson::dom::element data) {
  JsonTensor(tensor, elements).Read(data);
}

uint64_t MaxJson(const OutputTensor& tensor) {
  // Characters of an element, by its bytes: "false,", "-32768,", "-8600000400000000,", "-2.2250738585072014e-308,"; of
  // a byte of a text, "\u0000".
  static constexpr uint64_t kMax[] = {6, 6, 7, 0, 18, 0, 0, 0, 25};
  const size_t size = tensor.datatype->size;
  return 2 + tensor.bytes.size() / std::max<size_t>(size, 1) * kMax[size];
}

void AppendJson(std::string& text, const OutputTensor& tensor) {
  text += '[';
  AppendElements(text, tensor);
  text += ']';
}

}  // namespace wasinn::serve
