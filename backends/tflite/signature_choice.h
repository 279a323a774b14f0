// Which of a model's signatures is computed: each has a graph of its own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace wasinn::tflite {

// Their keys, in the file's order. The bytes have passed TensorFlow Lite's verifier, as for all functions here.
std::vector<std::string> SignatureKeys(std::span<const uint8_t> bytes);

// The index of the signature's graph. Throws WASINN_ERROR_INVALID_ARGUMENT, which lists what there is, and WASINN_ERROR_UNSUPPORTED_OPERATION
// where other graphs are called by their indices.
uint32_t GraphOf(std::span<const uint8_t> bytes, const std::string& key);

// Exchanges this graph and the first one, which is the one that TensorFlow Lite's interpreter computes.
void MakeFirst(std::span<uint8_t> bytes, uint32_t graph);

}  // namespace wasinn::tflite
