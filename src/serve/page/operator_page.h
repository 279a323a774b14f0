// The page for operators: GET /, and its requests below /wasinn/.
#pragma once

#include "serve/http/origins.h"
#include "serve/page/operator_state.h"

namespace wasinn::serve {

// Thread-safe.
class OperatorPage {
 public:
  // `origins` outlives it.
  OperatorPage(const Origins& origins, OperatorState::Sources sources)
      : origins_(origins), state_(std::move(sources)) {}

  // Whether a request is for it. `has_root`: "/" is the page's, and not a route's.
  bool Has(const Header& request, bool has_root) const;
  // Whether it asks for more than public files: then its tenant must be an operator.
  static bool IsState(const Header& request);
  Response Answer(const Exchange& exchange);

 private:
  Response Find(const Exchange& exchange);

  const Origins& origins_;
  OperatorState state_;
};

}  // namespace wasinn::serve
