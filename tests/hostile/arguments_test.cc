// Arguments that no function may take: pointers, numbers and tensors.
#include <gtest/gtest.h>

#include "hostile/run.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

constexpr char kInvalid[] = "invalid_argument";

TEST(HostileArguments, PointersAndLengthsOutsideOfMemory) {
  struct Pointer {
    const char* name;
    const char* what;  // in the log
  };
  const Pointer pointers[] = {{"load builders", "the array of graph builders"},
                              {"load 16 builders", "the array of graph builders"},
                              {"load bytes", "a graph builder"},
                              {"load graph", "the place for the result"},
                              {"load_by_name name", "a model's name"},
                              {"load_by_name graph", "the place for the result"},
                              {"init_execution_context context", "the place for the result"},
                              {"set_input tensor", "a tensor"},
                              {"set_input dims", "the dimensions of a tensor"},
                              {"set_input data", "the data of a tensor"},
                              {"get_output buffer", "an output buffer"},
                              {"get_output size", "the place for the result"}};
  std::vector<Attack> attacks;
  for (const Pointer& pointer : pointers) {
    const std::string name = pointer.name, function = name.substr(0, name.find(' '));
    for (const char* place :
         {"at the last byte", "one past the end", "at 2 GiB", "before 4 GiB", "at the last of 4 GiB"}) {
      attacks.push_back({name + " " + place,
                         kInvalid,
                         {function + ": invalid_argument", pointer.what, "is outside of the guest's memory"}});
    }
  }
  attacks.push_back(Honest());
  for (const char* range :
       {"one byte too long", "4 GiB - 1 long", "wrapping to its start", "2 GiB at 2 GiB", "nothing past the end"}) {
    for (const char* name : {"load bytes", "load_by_name name", "set_input data", "get_output buffer"}) {
      attacks.push_back({std::string(name) + " " + range, kInvalid, {"is outside of the guest's memory"}});
    }
  }
  attacks.push_back(Honest());
  const std::vector<Attack> fitting = {
      {"set_input data before the last byte"},
      {"set_input dims that end with memory"},
      {"set_input tensor that ends with memory"},
      {"compute"},
      {"get_output buffer that ends with memory"},
      Line("its values are right"),
      {"get_output size that ends with memory"},
      {"load_by_name graph that ends with memory"},
      {"load_by_name an empty name at the end", "not_found", {"no model is registered as ''"}},
      TooSmall("get_output into nothing at the end"),
      Line("its size is 16"),
      Honest()};
  attacks.insert(attacks.end(), fitting.begin(), fitting.end());
  ExpectAttacks(GuestRun{.guest = "pointers", .models = {"dynamic"}, .log_all = true}.Execute(), attacks);
}

TEST(HostileArguments, NumbersOfEncodingsTargetsAndBuilders) {
  const auto is_onnx = [](const char* given) -> std::vector<std::string> {
    return {"load: invalid_encoding", "the bytes are a model of encoding onnx, not ", given};
  };
  const auto no_encoding = [](const std::string& number) -> Attack {
    return {"onnx as encoding " + number, "invalid_encoding", {number + " is not an encoding of wasi-nn"}};
  };
  const auto served_by_none = [](const std::string& number) -> Attack {
    return {"onnx as encoding " + number, "invalid_encoding", {"encoding " + number, "served by no backend"}};
  };
  const auto no_target = [](const std::string& number) -> Attack {
    return {"target " + number, kInvalid, {number + " is not an execution target of wasi-nn"}};
  };
  const auto too_many = [](const std::string& number) -> Attack {
    return {number + " builders", "too_large", {"a model of " + number + " parts is over the limit of 16"}};
  };
  const std::vector<Attack> attacks = {
      {"onnx as encoding 0", "invalid_encoding", is_onnx("openvino")},
      {"onnx as encoding 1"},
      {"onnx as encoding 2", "invalid_encoding", is_onnx("tensorflow")},
      {"onnx as encoding 3", "invalid_encoding", is_onnx("pytorch")},
      {"onnx as encoding 4", "invalid_encoding", is_onnx("tensorflowlite")},
      {"onnx as encoding 5"},
      OnWasmEdge() ? Attack{"onnx as encoding 6", "invalid_encoding", is_onnx("ggml")}  // by WasmEdge's numbers
                   : Attack{"onnx as encoding 6"},
      served_by_none("7"),
      served_by_none("8"),
      no_encoding("255"),
      no_encoding("2147483648"),
      no_encoding("4294967295"),
      {"target 0"},
      {"target 1", "unsupported_operation", {"onnx", "gpu"}},
      {"target 2", "unsupported_operation", {"onnx", "tpu"}},
      no_target("4"),
      no_target("255"),
      no_target("2147483648"),
      no_target("4294967295"),
      Has("llama") ? Attack{"gguf as autodetect", "invalid_encoding", {"llama: no GGUF model"}}
                   : Attack{"gguf as autodetect", "unsupported_operation", {"ggml", "the backend 'llama'"}},
      {"text as autodetect", "invalid_encoding", {"not of a model format that wasinn recognises"}},
      {"text as onnx", "invalid_encoding", {"onnx: the bytes are not an ONNX model"}},
      {"nothing as autodetect", "invalid_encoding", {"not of a model format that wasinn recognises"}},
      {"nothing as onnx", "invalid_encoding", {"onnx: the bytes are not an ONNX model"}},
      {"preload: as onnx", "invalid_encoding", {"onnx: the bytes are not an ONNX model"}},
      {"preload: as autodetect", "invalid_encoding", {"not of a model format that wasinn recognises"}},
      {"0 builders", kInvalid, {"a model needs at least one part"}},
      {"2 builders", kInvalid, {"onnx", "2"}},
      {"16 builders", kInvalid, {"onnx", "16"}},
      too_many("17"),
      too_many("536870912"),
      too_many("536870913"),
      too_many("4294967295"),
      Honest()};
  ExpectAttacks(
      GuestRun{.guest = "numbers", .flags = {"--dir", SourcePath("models") + "::/models"}, .log_all = true}.Execute(),
      attacks);
}

std::vector<Attack> FixedShapeAttacks() {
  const std::string takes = "input 'image' takes f32 [1, 3, 8, 8], given ";
  std::vector<Attack> attacks;
  for (const char* given : {"0:[]", "1:[1]", "3:[1, 3, 8]", "5:[1, 3, 8, 8, 1]", "32:[1, 3, 8, 8, 1, 1"}) {
    const std::string text = given, rank = text.substr(0, text.find(':'));
    attacks.push_back({"rank " + rank, kInvalid, {takes + "f32 " + text.substr(rank.size() + 1)}});
  }
  for (const char* rank : {"33", "1073741824", "1073741828", "2147483648", "4294967295"}) {
    attacks.push_back({std::string("rank ") + rank,
                       kInvalid,
                       {std::string("a tensor of ") + rank + " dimensions is over the limit of 32"}});
  }
  for (const char* type : {"0:f16", "2:f64", "3:u8", "4:i32", "5:i64"}) {
    const std::string text = type, number = text.substr(0, 1);
    attacks.push_back({"type " + number, kInvalid, {takes + text.substr(2) + " [1, 3, 8, 8]"}});
  }
  for (const char* type : {"6", "7", "128", "255"}) {
    attacks.push_back(
        {std::string("type ") + type, kInvalid, {std::string(type) + " is not a tensor type of wasi-nn"}});
  }
  for (const char* length : {"0", "1", "767", "769", "1536"}) {
    attacks.push_back({std::string("length ") + length,
                       kInvalid,
                       {"f32 [1, 3, 8, 8] needs 768 bytes, given " + std::string(length)}});
  }
  for (const char* index : {"1", "2", "2147483647", "2147483648", "4294967294", "4294967295"}) {
    attacks.push_back(
        {std::string("input ") + index, kInvalid, {"there is no input " + std::string(index) + ": the model has 1"}});
  }
  attacks.push_back({"shape [3, 1, 8, 8]", kInvalid, {takes, "[3, 1, 8, 8]"}});
  attacks.push_back({"shape [1, 3, 64, 1]", kInvalid, {takes, "[1, 3, 64, 1]"}});
  attacks.push_back({"shape [1, 3, 8, 0]", kInvalid, {takes, "[1, 3, 8, 0]"}});
  attacks.push_back({"shape [1, 3, 8, 2^32-8]", kInvalid, {takes, "[1, 3, 8, 4294967288]"}});
  attacks.push_back({"the right one"});
  attacks.push_back(Honest());
  return attacks;
}

std::vector<Attack> DynamicShapeAttacks() {
  std::vector<Attack> attacks = {
      {"[2^30, 1] of 0 bytes", kInvalid, {"needs 4294967296 bytes, given 0"}},
      {"[2^30+1, 1] of 4 bytes", kInvalid, {"needs 4294967300 bytes, given 4"}},
      {"[2^31, 2] of 16 bytes", kInvalid, {"needs 17179869184 bytes, given 16"}},
      {"[2^32-1, 2^32-1] of 4 bytes", kInvalid, {"the size of f32 [4294967295, 4294967295] overflows"}},
      {"[2^31, 2^31] of 0 bytes", kInvalid, {"the size of f32 [2147483648, 2147483648] overflows"}},
      {"[3, 50176] at the end of memory", kInvalid, {"the data of a tensor", "602112 bytes", "outside"}},
      {"[3, 50176] of 4 bytes", kInvalid, {"f32 [3, 50176] needs 602112 bytes, given 4"}}};
  for (const char* other : {"0", "1", "2147483648", "4294967295"}) {
    const std::string first = std::string("[0, ") + other + "]", second = std::string("[") + other + ", 0]";
    // Frameworks go through the rows of such a tensor. Its input stays what it was.
    const bool too_large = std::string_view(other).size() > 1;
    for (const std::string& shape : {first, second}) {
      attacks.push_back(too_large ? Attack{shape, "too_large", {"has no element, but its other dimensions exceed"}}
                                  : Attack{shape});
      attacks.push_back({shape + " compute"});
    }
    attacks.push_back({second + " output"});
    attacks.push_back(Line("its size is 0"));
  }
  attacks.push_back({"[0, 2^31] of 4 bytes", kInvalid, {"needs 0 bytes, given 4"}});
  return attacks;
}

std::vector<Attack> OutputAttacks() {
  // The output of the compute before the input that is refused stays.
  std::vector<Attack> attacks = {
      {"set [2, 2]"}, {"compute"}, {"an input that is refused", kInvalid, {"f32 [2, 2] needs 16 bytes, given 15"}}};
  for (const char* index : {"1", "2147483647", "2147483648", "4294967295"}) {
    attacks.push_back(
        {std::string("output ") + index, kInvalid, {"there is no output " + std::string(index) + ": the model has 1"}});
  }
  attacks.push_back(TooSmall("output into 0 bytes"));
  attacks.push_back(Line("its size is 16"));
  attacks.push_back(TooSmall("output into 15 bytes"));
  attacks.push_back(Line("its size is 16"));
  attacks.push_back({"output into 16 bytes"});
  attacks.push_back(Line("its size is 16"));
  attacks.push_back(Honest());
  return attacks;
}

std::vector<Attack> TypeAttacks() {
  return {{"a bool of 2", kInvalid, {"a bool is one byte, 0 or 1"}},
          {"compute after a bool of 2", kInvalid, {"input 0 ('x') was not set"}},
          {"a scalar as [1, 1]", kInvalid, {"takes f32 [], given f32 [1, 1]"}},
          {"a scalar as [2]", kInvalid, {"takes f32 [], given f32 [2]"}},
          {"a scalar as [1]"},
          {"a scalar as []"},
          {"i16 as u8 with an odd last dim", kInvalid, {"takes i16 [2, 3], given u8 [2, 3]"}},
          {"i16 as i32", kInvalid, {"takes i16 [2, 3], given i32 [2, 3]"}},
          {"no bytes at a null pointer"},
          {"no bytes compute"},
          {"a string as u8", kInvalid, {"takes u8 [2, 3, ?], given u8 [2, 3]"}},
          {"strings compute", kInvalid, {"input 0 ('x') was not set"}},
          {"a string beyond its bytes"},
          {"its compute", kInvalid, {"string 0 has 200 bytes: expected no more than 1"}},
          {"strings output", kInvalid, {"there is no output before a successful compute"}},
          Honest()};
}

TEST(HostileArguments, Tensors) {
  std::vector<Attack> attacks;
  for (const auto& part : {FixedShapeAttacks(), DynamicShapeAttacks(), OutputAttacks(), TypeAttacks()}) {
    attacks.insert(attacks.end(), part.begin(), part.end());
  }
  const GuestRun run{.guest = "tensors",
                     .models = {"mean", "dynamic", "identity_bool", "identity_scalar", "identity_i16", "identity_empty",
                                "identity_string"},
                     .log_all = true};
  ExpectAttacks(run.Execute(), attacks);
}

}  // namespace
}  // namespace wasinn::testing
