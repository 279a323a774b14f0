#include "serve/inflate.h"

#include <zlib.h>

#include <boost/beast/core/string.hpp>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace wasinn::serve {
namespace {

using Stream = std::unique_ptr<z_stream, decltype(&::inflateEnd)>;

// zlib finds the form by its first bytes. Some clients mean by "deflate" what has no header at all.
constexpr int kAnyHeader = 15 + 32, kNoHeader = -15;

Inflated Inflate(std::string_view from, int form, uint64_t most, RequestBytes& to) {
  constexpr size_t kPiece = 64u << 10;
  z_stream state{};
  if (::inflateInit2(&state, form) != Z_OK) return Inflated::kNoRoom;
  const Stream end(&state, &::inflateEnd);
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
  state.avail_in = static_cast<uInt>(from.size());
  std::vector<Bytef> piece(kPiece);
  for (int result = Z_OK;;) {
    state.next_out = piece.data();
    state.avail_out = kPiece;
    result = ::inflate(&state, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END) return Inflated::kBroken;  // also where its end is missing
    const size_t bytes = kPiece - state.avail_out;
    if (bytes > most - to.size()) return Inflated::kTooLarge;
    if (!to.Append(piece.data(), bytes)) return Inflated::kNoRoom;
    if (result != Z_STREAM_END) continue;
    if (state.avail_in == 0) return Inflated::kDone;
    if (form != kAnyHeader || ::inflateReset(&state) != Z_OK) return Inflated::kBroken;  // gzip has members
  }
}

}  // namespace

bool CanInflate(std::string_view encoding) {
  return boost::beast::iequals(encoding, "gzip") || boost::beast::iequals(encoding, "x-gzip") ||
         boost::beast::iequals(encoding, "deflate");
}

Inflated InflateBody(RequestBytes& body, uint64_t most, const std::shared_ptr<MemoryBudget>& budget) {
  if (body.size() > UINT32_MAX) return Inflated::kTooLarge;  // zlib counts so
  for (const int form : {kAnyHeader, kNoHeader}) {
    RequestBytes inflated{Charge(budget)};
    const Inflated result = Inflate(body.view(), form, most, inflated);
    if (result == Inflated::kBroken && form != kNoHeader) continue;
    if (result == Inflated::kDone) body = std::move(inflated);
    return result;
  }
  std::unreachable();
}

}  // namespace wasinn::serve
