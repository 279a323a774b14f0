// Reads a GraphDef before TensorFlow does.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wasinn::tensorflow {

// Everything points into the bytes that were scanned.
struct ScannedNode {
  std::string_view name;
  std::string_view op;
  std::vector<std::string_view> inputs;     // "node", "node:1", "^node"
  std::vector<std::string_view> functions;  // that its attributes name
};

struct GraphScan {
  std::vector<ScannedNode> nodes;
  std::map<std::string_view, std::vector<ScannedNode>> functions;
  // What loading makes of few bytes: constants whose values are repeated, the nodes themselves.
  uint64_t more_bytes = 0;
};

// Throws WASINN_ERROR_INVALID_ENCODING where the bytes are not a GraphDef.
GraphScan ScanGraph(std::span<const uint8_t> bytes);

// Throws WASINN_ERROR_SECURITY that names an operation which reaches files, the network or other code.
void CheckOps(const GraphScan& scan, bool is_saved_model);

// Names of the nodes that no other node takes an input from or waits for, in the graph's order.
std::vector<std::string_view> NodesWithoutConsumers(const GraphScan& scan);

// What a run for these nodes may leave behind in its session, and in what it gives.
struct Effects {
  bool keeps_state = true;   // a variable, table, queue, iterator or generator of random numbers changes
  bool keeps_inputs = true;  // and it may hold an input
  bool gives_parts = true;   // a tensor may be a part of a larger buffer, all of which it keeps
};
Effects FindEffects(const GraphScan& scan, std::span<const std::string> outputs);

}  // namespace wasinn::tensorflow
