// Models that are made to harm: by nesting, by numbers, by what they make a framework compute.
#pragma once

#include <string>

namespace wasinn::testing {

// Nesting.
std::string DeepSubgraphs(int levels);    // an If in an If in an If …
std::string DeepGroups(int levels);       // groups, which Protocol Buffers have and ONNX does not
std::string FunctionsOfFunctions(int n);  // each calls the one before it twice: 2^n nodes when written out

// Numbers.
std::string ManyInputs(int n);
std::string ManyUnusedWeights(int n);
std::string ManyEmptyNames(int n);  // of inputs of one node, each two bytes in the file
std::string LongChain(int n);       // of nodes
std::string InputOfRank(int rank);
std::string InputOfDim(int64_t dim);

// Its output y has as many floats as its input n says, and one by its signature.
std::string UntrueOutput();

// Names that would write lines of their own in a log.
std::string NamesWithControlCharacters();

// Outputs of one name: an input's, three times, and y.
std::string OutputsOfOneName();

// Constant folding computes them at load: `elements` at once, or a product of matrices `times` times.
std::string FoldsHuge(int64_t elements);
std::string ComputesForLong(int times);
// The tensor is joined to itself `times` times: 2^times.
std::string Doubles(int times, bool constant);
// No inputs; divides integers by zero, or the least one by -1.
std::string Divides(const std::string& op, bool by_zero);

}  // namespace wasinn::testing
