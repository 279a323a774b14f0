// A program that is linked with libraries that frameworks have inside, too, and uses them before and after a model of each:
//
//   beside CONFIGURATION MODEL=OUTPUT…
//
// A model computes an image of 8x8 pixels; if OUTPUT is "completion", how "GNU" goes on. Prints the bytes of each output, in hex.
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <zlib.h>

#include <absl/container/flat_hash_map.h>
#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <omp.h>

#include <wasinn/wit.h>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>
#include <wasinn/wasinn.hpp>

namespace {

void Expect(bool condition, std::string_view what) {
  if (condition) return;
  std::cerr << "not so: " << what << std::endl;
  std::exit(1);
}

void UseLibraries() {
  google::protobuf::Struct message;
  Expect(google::protobuf::util::JsonStringToMessage(R"({"a": [1, "b"]})", &message).ok(),
         "Protocol Buffers reads JSON");
  google::protobuf::Struct again;
  Expect(again.ParseFromString(message.SerializeAsString()) && again.fields().at("a").list_value().values_size() == 2,
         "it reads messages");
  const absl::flat_hash_map<std::string, int> map = {{absl::StrCat("a", 1), 1}};
  Expect(map.at("a1") == 1, "Abseil has maps");
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  Expect(context != nullptr, "OpenSSL has contexts");
  SSL_CTX_free(context);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  Expect(EVP_Digest("abc", 3, digest, &size, EVP_sha256(), nullptr) == 1 && size == 32 && digest[0] == 0xba,
         "OpenSSL has digests");
  std::vector<Bytef> packed(compressBound(1000)), text(1000, 'a'), unpacked(1000);
  uLongf n_packed = packed.size(), n_unpacked = unpacked.size();
  Expect(compress(packed.data(), &n_packed, text.data(), text.size()) == Z_OK, "zlib compresses");
  Expect(uncompress(unpacked.data(), &n_unpacked, packed.data(), n_packed) == Z_OK && unpacked == text, "and back");
  int sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(2)
  for (int i = 0; i < 100; ++i) sum += i;
  Expect(sum == 4950 && omp_get_max_threads() > 0, "OpenMP adds");
}

std::string Compute(wasinn_guest* guest, const std::string& name, const std::string& output) {
  const wasinn_wit_functions& wit = *wasinn_wit();
  // The host's log says why a call failed.
  const auto expect = [&](wasinn_status* status, const wasinn_wit_result& result, std::string_view what) {
    Expect(status == nullptr && result.is_error == 0, what);
    return result.rep;
  };
  wasinn_wit_result result = {};
  const uint32_t graph = expect(wit.graph_load_by_name(guest, name.data(), name.size(), &result), result, "it loads");
  const uint32_t context = expect(wit.graph_init_execution_context(guest, graph, &result), result, "it has contexts");
  const bool is_text = output == "completion";
  std::vector<float> pixels(64);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i) / 64;
  const std::vector<uint32_t> dims = is_text ? std::vector<uint32_t>{3} : std::vector<uint32_t>{1, 1, 8, 8};
  const auto* data =
      is_text ? reinterpret_cast<const uint8_t*>("GNU") : reinterpret_cast<const uint8_t*>(pixels.data());
  constexpr uint32_t kF32 = 1, kU8 = 4;
  const std::string_view input_name = is_text ? "prompt" : "image";
  wasinn_wit_named_tensor input = {input_name.data(), input_name.size(), 0};
  Expect(wit.tensor_new(guest, dims.data(), dims.size(), is_text ? kU8 : kF32, data, is_text ? 3 : 256,
                        &input.tensor) == nullptr,
         "tensors");
  expect(wit.context_set_input(guest, context, &input, &result), result, "it has the input");
  expect(wit.context_compute_set(guest, context, &result), result, "it computes");
  const uint32_t tensor = expect(wit.context_get_output(guest, context, output.data(), output.size(), &result), result,
                                 "it has the output");
  wasinn_wit_view view = {};
  Expect(wit.tensor_data(guest, tensor, &view) == nullptr, "its bytes");
  return {static_cast<const char*>(view.data), view.count};
}

}  // namespace

int main(int argc, char** argv) {
  wasinn::Config config;
  Expect(argc > 2 && config.LoadFile(argv[1]).ok(), "a configuration");
  const wasinn::Result<wasinn::Host> host =
      wasinn::Host::Create(config, [](const wasinn_log_record& record) { std::clog << record.message << '\n'; });
  Expect(host.ok(), "a host");
  const wasinn::Result<wasinn::Guest> guest = wasinn::Guest::Create(*host);
  UseLibraries();
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i], name = word.substr(0, word.find('=')), output = word.substr(name.size() + 1);
    std::cout << name << ' ' << absl::BytesToHexString(Compute(guest->get(), name, output)) << std::endl;
    UseLibraries();
  }
}
