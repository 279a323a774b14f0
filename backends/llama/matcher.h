// Finds the tokens that may follow a text by a grammar.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/reservation.h"
#include "llama/common_library.h"
#include "llama/llama_library.h"

namespace wasinn::llama {

class Model;

// llama.cpp's grammar in a library that counts what it does (scripts/deps/llama): so each call has limits of memory, work
// and depth, ends soon after it is cancelled, and what the grammar holds is charged. After an exception it is of no more
// use.
class Matcher {
 public:
  // `grammar`: GBNF. `account`: pays for its memory. The functions throw WASINN_ERROR_TOO_LARGE for what takes too much, and
  // WASINN_ERROR_TIMEOUT once `cancelled` is set; this one also WASINN_ERROR_INVALID_ARGUMENT for what is no grammar, and
  // WASINN_ERROR_UNSUPPORTED_OPERATION where the library is missing.
  Matcher(const Model& model, const std::string& grammar, const std::atomic<bool>& cancelled, void* account);

  bool Allows(llama_token token);
  // -INFINITY becomes the logit of those that may not come.
  void Restrict(std::span<llama_token_data> candidates);
  // What has come. False: it does not go on with the grammar.
  bool Accept(llama_token token) { return AcceptPiece(token, {}); }
  // A part of it.
  bool Accept(llama_token token, std::string_view piece) { return AcceptPiece(token, piece); }

 private:
  bool AcceptPiece(llama_token token, std::string_view piece);

  const CommonLibrary& library_;
  const std::atomic<bool>& cancelled_;
  backend::Reservation reservation_;  // goes after it
  CommonLibrary::Matcher matcher_;
  uint64_t held_;  // bytes of it
  std::vector<int32_t> tokens_;
  std::vector<uint8_t> allowed_;
};

}  // namespace wasinn::llama
