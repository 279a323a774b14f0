// Errors that calls throw.
#pragma once

#include "common/error.h"
#include "support/test.h"

namespace wasinn::test {

struct Thrown {
  wasinn_code code = WASINN_OK;  // nothing is thrown
  std::string message;
};

template <typename Call>
Thrown ThrownBy(Call&& call) {
  try {
    call();
    return {};
  } catch (const backend::Error& error) {
    return {error.code(), error.what()};
  }
}

// The message, of an error with this code; "": nothing is thrown.
template <typename Call>
std::string Refused(uint32_t code, Call&& call) {
  const Thrown thrown = ThrownBy(call);
  if (thrown.code != WASINN_OK) {
    EXPECT_EQ(thrown.code, code) << thrown.message;
  }
  return thrown.message;
}

}  // namespace wasinn::test
