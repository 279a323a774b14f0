#include "serve/http/content_encoding.h"

#include <zlib.h>
#include <boost/algorithm/string/trim.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/rfc7230.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace wasinn::serve {

namespace {

using boost::beast::iequals;

// A smaller answer fits into one packet anyway.
constexpr size_t kLeastDeflated = 1024;
const Place kCoding = PlaceOf("");  // for answers without a model, or that need not hold up their model

bool IsAccepted(std::string_view accepted, std::string_view coding) {
  while (!accepted.empty()) {
    const std::string_view one = accepted.substr(0, accepted.find(','));
    accepted.remove_prefix(std::min(accepted.size(), one.size() + 1));
    const std::string_view name = one.substr(0, one.find(';'));
    if (!iequals(boost::algorithm::trim_copy(name), coding)) continue;
    for (const auto& [parameter, value] : http::param_list(one.substr(name.size()))) {
      if (iequals(parameter, "q") && value.find_first_not_of("0.") == value.npos) return false;
    }
    return true;
  }
  return false;
}

// The encoding of an answer; NULL: none.
const char* CodingFor(const Header& header) {
  const auto accepted = header[http::field::accept_encoding];
  for (const char* const coding : {"gzip", "deflate"}) {
    if (IsAccepted({accepted.data(), accepted.size()}, coding)) return coding;
  }
  return nullptr;
}

size_t SizeOf(const Response& response) {
  size_t size = response.text.size();
  for (const OutputTensor& part : response.binary) size += part.bytes.size();
  return size;
}

// No value: it does not become smaller, or there is no memory for it.
std::optional<std::string> Deflate(const Response& response, bool is_gzip, Charge& charge) {
  constexpr int kZlib = 15, kGzip = 15 + 16, kUsualMemory = 8;
  z_stream state{};
  if (::deflateInit2(&state, Z_BEST_SPEED, Z_DEFLATED, is_gzip ? kGzip : kZlib, kUsualMemory, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return std::nullopt;
  }
  const std::unique_ptr<z_stream, decltype(&::deflateEnd)> end(&state, &::deflateEnd);
  const size_t most = SizeOf(response);
  if (most > UINT32_MAX || !charge.Add(most)) return std::nullopt;  // zlib's counter
  std::string to(most, '\0');
  state.next_out = reinterpret_cast<Bytef*>(to.data());
  state.avail_out = static_cast<uInt>(most);
  const auto add = [&state](const void* bytes, size_t size, int flush) {
    state.next_in = static_cast<Bytef*>(const_cast<void*>(bytes));
    state.avail_in = static_cast<uInt>(size);
    return ::deflate(&state, flush);
  };
  add(response.text.data(), response.text.size(), Z_NO_FLUSH);
  for (const OutputTensor& part : response.binary) add(part.bytes.data(), part.bytes.size(), Z_NO_FLUSH);
  if (state.avail_in > 0 || add(nullptr, 0, Z_FINISH) != Z_STREAM_END) return std::nullopt;
  to.resize(most - state.avail_out);
  to.shrink_to_fit();
  charge.ShrinkTo(to.size());
  return to;
}

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

asio::awaitable<std::optional<Response>> InflateRequest(Exchange& exchange, uint64_t most, Workers& workers) {
  Request& request = exchange.request;
  const auto coding = request[http::field::content_encoding];
  if (coding.empty() || iequals(coding, "identity") || request.body().size() == 0) co_return std::nullopt;
  if (!iequals(coding, "gzip") && !iequals(coding, "x-gzip") && !iequals(coding, "deflate")) {
    Response response =
        ErrorResponse(http::status::unsupported_media_type, "a request can only be compressed by gzip or deflate");
    response.headers = {{"Accept-Encoding", "gzip, deflate"}};
    co_return response;
  }
  const Tenant& tenant = *exchange.admission.tenant;
  const std::shared_ptr<Cancellation> cancellation = exchange.watch();
  std::function<RequestBytes()> inflate = [&] {
    return Inflate(request.body().view(), most, tenant.budget(), cancellation.get());
  };
  try {
    request.body() = co_await workers.Do(std::move(inflate), tenant.share(), cancellation.get(), kCoding);
  } catch (const Failure& failure) {
    co_return ToResponse(failure);
  }
  co_return std::nullopt;
}

asio::awaitable<Response> DeflateResponse(Exchange& exchange, Response response, Workers& workers) {
  const char* const coding = CodingFor(exchange.request);
  const size_t size = SizeOf(response);
  if (coding == nullptr || size < kLeastDeflated || response.status != http::status::ok) co_return response;
  const Tenant& tenant = *exchange.admission.tenant;
  Charge charge(tenant.budget());
  std::function<std::optional<std::string>()> deflate = [&] {
    return Deflate(response, std::string_view(coding) == "gzip", charge);
  };
  std::optional<std::string> deflated;
  try {
    if (size <= kMaxInline) {
      deflated = deflate();
    } else {
      deflated = co_await workers.Do(std::move(deflate), tenant.share(), nullptr, kCoding);
    }
  } catch (const Failure&) {  // no thread has time for it
    co_return response;
  }
  if (!deflated) co_return response;
  response.text = std::move(*deflated);
  response.binary.clear();
  response.charge = std::move(charge);
  response.headers.emplace_back("Content-Encoding", coding);
  co_return response;
}

RequestBytes Inflate(std::string_view from, uint64_t most, const std::shared_ptr<MemoryBudget>& budget,
                     const Cancellation* cancellation) {
  for (const int form : {kAnyHeader, kNoHeader}) {
    RequestBytes to{Charge(budget)};
    switch (InflateAs(form, from, most, to, cancellation)) {
      case Inflated::kDone:
        return to;
      case Inflated::kTooLarge:
        Throw(WASINN_ERROR_TOO_LARGE, "the request, inflated, is larger than {} bytes, its limit", most);
      case Inflated::kNoRoom:
        throw NoMemory();
      case Inflated::kEmpty:
        ThrowInvalid("{} bytes of the compressed request hold no data", kPiece);
      case Inflated::kCancelled:
        throw ClientGone();
      case Inflated::kBroken:
        break;
    }
  }
  ThrowInvalid("the request is not compressed as its Content-Encoding, or grpc-encoding, says");
}

}  // namespace wasinn::serve
