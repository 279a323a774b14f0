#include "serve/http/inflate.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace wasinn::serve {
namespace {

using Stream = std::unique_ptr<z_stream, decltype(&::inflateEnd)>;

// zlib recognises the form by its first bytes. Some clients mean data without a header by "deflate".
constexpr int kAnyHeader = 15 + 32, kNoHeader = -15;

constexpr size_t kPiece = 64u << 10;

enum class Inflated : uint8_t { kDone, kBroken, kEmpty, kTooLarge, kNoRoom, kCancelled };

// Reads and writes a piece at a time. A piece of empty members or blocks costs time and brings nothing.
Inflated InflateAs(int form, std::string_view from, uint64_t most, RequestBytes& to, const Cancellation* cancellation) {
  z_stream state{};
  if (::inflateInit2(&state, form) != Z_OK) return Inflated::kNoRoom;
  const Stream end(&state, &::inflateEnd);
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
  std::vector<Bytef> piece(kPiece);
  size_t left = from.size(), before = 0;  // `before`: the size of `to` at the begin of this piece
  for (int result = Z_OK;;) {
    if (cancellation != nullptr && cancellation->is_cancelled()) return Inflated::kCancelled;
    if (state.avail_in == 0 && left > 0) {
      if (left < from.size() && to.size() == before) return Inflated::kEmpty;
      before = to.size();
      state.avail_in = static_cast<uInt>(std::min(left, kPiece));
      left -= state.avail_in;
    }
    state.next_out = piece.data();
    state.avail_out = kPiece;
    result = ::inflate(&state, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END) return Inflated::kBroken;  // even if its end is missing
    const size_t bytes = kPiece - state.avail_out;
    if (bytes > most - to.size()) return Inflated::kTooLarge;
    if (!to.Append(piece.data(), bytes)) return Inflated::kNoRoom;
    if (result != Z_STREAM_END) continue;
    if (state.avail_in == 0 && left == 0) return Inflated::kDone;
    if (form != kAnyHeader || ::inflateReset(&state) != Z_OK) return Inflated::kBroken;  // gzip has members
  }
}

}  // namespace

Outcome<RequestBytes> Inflate(std::string_view from, uint64_t most, const std::shared_ptr<MemoryBudget>& budget,
                              const Cancellation* cancellation) {
  for (const int form : {kAnyHeader, kNoHeader}) {
    RequestBytes to{Charge(budget)};
    switch (InflateAs(form, from, most, to, cancellation)) {
      case Inflated::kDone:
        return to;
      case Inflated::kTooLarge:
        return std::unexpected(
            Failure{WASINN_ERROR_TOO_LARGE,
                    fmt::format("the request, inflated, is larger than {} bytes, as much as it may have", most)});
      case Inflated::kNoRoom:
        return std::unexpected(NoMemory());
      case Inflated::kEmpty:
        return std::unexpected(Invalid(fmt::format("{} bytes of the compressed request hold no data", kPiece)));
      case Inflated::kCancelled:
        return std::unexpected(Failure{WASINN_ERROR_UNAVAILABLE, "the client has gone"});
      case Inflated::kBroken:
        break;
    }
  }
  return std::unexpected(Invalid("the request is not compressed as its Content-Encoding, or grpc-encoding, says"));
}

}  // namespace wasinn::serve
