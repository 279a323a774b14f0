#include "onnx/function_calls.h"

#include <fmt/format.h>

#include "common/error.h"
#include "common/saturating.h"

namespace wasinn::onnx {

using backend::Error;

void FunctionCalls::Add(Key key, Body body) {
  Body& sum = functions_[key].body;
  sum.nodes += body.nodes;
  sum.bytes = backend::AddSat(sum.bytes, body.bytes);
  sum.calls.insert(sum.calls.end(), body.calls.begin(), body.calls.end());
}

FunctionCalls::Body FunctionCalls::Inline(const Body& main) {
  if (functions_.empty()) return {};
  return Follow(main, 0);
}

FunctionCalls::Body FunctionCalls::Follow(const Body& body, int depth) {
  if (depth > kMostDepth) {
    throw Error(WASINN_TOO_LARGE, fmt::format("functions of the model call each other more than {} deep", kMostDepth));
  }
  Body added;
  for (const Key& call : body.calls) {
    auto found = functions_.find(call);
    if (found == functions_.end()) continue;
    Function& function = found->second;
    if (function.state == Function::kOpen) {
      throw Error(WASINN_INVALID_ENCODING, "the bytes are no ONNX model: a function calls itself");
    }
    if (function.state == Function::kNew) {
      function.state = Function::kOpen;
      const Body inside = Follow(function.body, depth + 1);
      function.body.nodes += inside.nodes;
      function.body.bytes = backend::AddSat(function.body.bytes, inside.bytes);
      function.state = Function::kDone;
    }
    added.nodes += function.body.nodes;
    if (added.nodes > kMostNodes) {
      throw Error(WASINN_TOO_LARGE,
                  fmt::format("calls of the model's functions add up to more than {} nodes", kMostNodes));
    }
    added.bytes = backend::AddSat(added.bytes, function.body.bytes);
  }
  return added;
}

}  // namespace wasinn::onnx
