// Reads a GraphDef before TensorFlow does.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::tensorflow {

// All members point into the scanned bytes.
struct ScannedNode {
  std::string_view name;
  std::string_view op;
  std::vector<std::string_view> inputs;     // "node", "node:1", "^node"
  std::vector<std::string_view> functions;  // that its attributes name
};

struct GraphScan {
  std::vector<ScannedNode> nodes;
  std::map<std::string_view, std::vector<ScannedNode>> functions;
  // Memory that loading makes of few bytes: constants with repeated values, the nodes themselves.
  uint64_t more_bytes = 0;
};

// Throws WASINN_ERROR_INVALID_ENCODING if the bytes are not a GraphDef.
GraphScan ScanGraph(std::span<const uint8_t> bytes);

// Throws WASINN_ERROR_SECURITY with the name of an operation that reaches files, the network or other code.
void CheckOps(const GraphScan& scan, bool is_saved_model);

// Names of the nodes that no other node takes an input from or waits for, in the graph's order.
std::vector<std::string_view> NodesWithoutConsumers(const GraphScan& scan);

// Data that a run for these nodes may leave behind in its session, or pass on.
struct Effects {
  bool keeps_state = true;   // a variable, table, queue, iterator or generator of random numbers changes
  bool keeps_inputs = true;  // and it may hold an input
  bool gives_parts = true;   // a tensor may be a part of a larger buffer, and then keeps all of it
};
Effects FindEffects(const GraphScan& scan, std::span<const std::string> outputs);

}  // namespace wasinn::tensorflow
