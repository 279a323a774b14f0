// Images and sounds that only an attacker has.
#pragma once

#include <cstdint>
#include <string>

namespace wasinn::test {

// WebP: a file of chunks, a chunk, and the one that says how large all pictures are together.
std::string Webp(const std::string& chunks);
std::string WebpChunk(const std::string& name, const std::string& contents);
std::string WebpCanvas(uint32_t width, uint32_t height, bool moves);
// A lossy picture whose bits are zeros: much larger than its bytes.
std::string Vp8Zeros(uint32_t width, uint32_t height);
// A lossless one of 16 x 16 pixels with so many groups of codes, each with full tables.
std::string WebpOfTables(uint32_t groups);

// A FLAC file of frames of 192 equal samples, with these blocks between its head and its frames.
std::string Flac(uint32_t rate, uint32_t frames, const std::string& blocks);
std::string FlacBlock(uint8_t kind, const std::string& contents);

}  // namespace wasinn::test
