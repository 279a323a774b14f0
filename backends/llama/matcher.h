// Finds the tokens that a grammar allows next.
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

// llama.cpp's grammar in a library that counts its work (scripts/deps/llama): each call has limits of memory, work and
// depth, ends soon after a cancel, and the grammar's memory is charged. Unusable after an exception.
class Matcher {
 public:
  // `grammar`: GBNF. `account`: pays for its memory. All functions throw WASINN_ERROR_TOO_LARGE beyond the limits, and
  // WASINN_ERROR_TIMEOUT once `cancelled` is set; the constructor also throws WASINN_ERROR_INVALID_ARGUMENT for an
  // invalid grammar, and WASINN_ERROR_UNSUPPORTED_OPERATION if the library is missing.
  Matcher(const Model& model, const std::string& grammar, const std::atomic<bool>& cancelled, void* account);

  bool Allows(llama_token token);
  // Sets the logits of forbidden tokens to -INFINITY.
  void Restrict(std::span<llama_token_data> candidates);
  // Adds a token. False: the grammar forbids it.
  bool Accept(llama_token token) { return AcceptPiece(token, {}); }
  // Adds a part of it.
  bool Accept(llama_token token, std::string_view piece) { return AcceptPiece(token, piece); }

 private:
  bool AcceptPiece(llama_token token, std::string_view piece);

  const CommonLibrary& library_;
  const std::atomic<bool>& cancelled_;
  backend::Reservation reservation_;  // destroyed after it
  CommonLibrary::Matcher matcher_;
  uint64_t held_;  // its bytes
  std::vector<int32_t> tokens_;
  std::vector<uint8_t> allowed_;
};

}  // namespace wasinn::llama
