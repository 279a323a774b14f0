// What becomes of a model when its functions have been inlined.
#ifndef WASINN_BACKENDS_ONNX_FUNCTION_CALLS_H_
#define WASINN_BACKENDS_ONNX_FUNCTION_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace wasinn::onnx {

// ONNX Runtime puts the body of a function in place of each call, and goes into functions recursively. So a model of 3
// KB, in which each function calls the next one twice, occupies it for days, and a chain of 5,000 functions overflows
// its stack.
class FunctionCalls {
 public:
  // Domain and name. Overloads count as one function, the sum of all.
  using Key = std::pair<std::string_view, std::string_view>;

  // The main graph, or the body of a function.
  struct Body {
    size_t nodes = 0;
    uint64_t bytes = 0;
    std::vector<Key> calls;  // of each node, for most are operators and no functions
  };

  // Deep enough for modules of modules; each level takes about 4 KB of the caller's stack.
  static constexpr int kMostDepth = 64;
  // 10,000 take ONNX Runtime 8 seconds.
  static constexpr size_t kMostNodes = 10000;

  void Add(Key key, Body body);
  bool Has(const Key& key) const { return functions_.contains(key); }
  // Nodes and bytes that inlining adds to the main graph; throws where that is too much.
  Body Inline(const Body& main);

 private:
  struct Function {
    Body body;
    enum { kNew, kOpen, kDone } state = kNew;
  };

  // Adds what all calls of a body lead to.
  Body Follow(const Body& body, int depth);

  std::map<Key, Function> functions_;
};

}  // namespace wasinn::onnx

#endif  // WASINN_BACKENDS_ONNX_FUNCTION_CALLS_H_
