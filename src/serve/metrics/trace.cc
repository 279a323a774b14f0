#include "serve/metrics/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <random>

namespace wasinn::serve {
namespace {

using Headers = boost::beast::http::request_header<>;

constexpr char kTraceParent[] = "traceparent", kTraceState[] = "tracestate";
constexpr size_t kMaxState = 512;
constexpr unsigned kKnownFlags = 3;

// VERSION-TRACE-PARENT-FLAGS, with 2, 32, 16 and 2 digits. Later versions may go on after another '-'.
constexpr size_t kTraceAt = 3, kParentAt = 36, kFlagsAt = 53, kSize = 55;

bool IsHex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsId(std::string_view text) { return IsHex(text) && text.find_first_not_of('0') != text.npos; }

bool IsTraceParent(std::string_view text) {
  if (text.size() < kSize || text[kTraceAt - 1] != '-' || text[kParentAt - 1] != '-' || text[kFlagsAt - 1] != '-') {
    return false;
  }
  const std::string_view version = text.substr(0, 2);
  if (!IsHex(version) || version == "ff" || (text.size() > kSize && (version == "00" || text[kSize] != '-'))) {
    return false;
  }
  return IsId(text.substr(kTraceAt, 32)) && IsId(text.substr(kParentAt, 16)) && IsHex(text.substr(kFlagsAt, 2));
}

// They protect nothing, but should be unique. Not 0.
uint64_t RandomId() {
  thread_local std::mt19937_64 generator = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  return std::max<uint64_t>(generator(), 1);
}

// The digits were checked before.
uint64_t FromHex(std::string_view digits) {
  uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return number;
}

std::string ToHex(uint64_t id) { return id == 0 ? "" : fmt::format("{:016x}", id); }

std::string_view ValueOf(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

std::string Trace::trace_id() const { return (high | low) == 0 ? "" : fmt::format("{:016x}{:016x}", high, low); }
std::string Trace::span_id() const { return ToHex(span); }
std::string Trace::parent_id() const { return ToHex(parent); }

std::string Trace::ToHeader() const { return fmt::format("00-{:016x}{:016x}-{:016x}-{:02x}", high, low, span, flags); }

Trace ContinueTrace(std::string_view traceparent) {
  if (!IsTraceParent(traceparent)) return {.high = RandomId(), .low = RandomId(), .span = RandomId()};
  return {.high = FromHex(traceparent.substr(kTraceAt, 16)),
          .low = FromHex(traceparent.substr(kTraceAt + 16, 16)),
          .span = RandomId(),
          .parent = FromHex(traceparent.substr(kParentAt, 16)),
          .flags = static_cast<unsigned>(FromHex(traceparent.substr(kFlagsAt, 2))) & kKnownFlags};
}

Trace TraceOf(const Headers& request) {
  const auto found = request.find(kTraceParent);
  if (found == request.end() || request.count(kTraceParent) > 1) return ContinueTrace("");
  return ContinueTrace(ValueOf(found->value()));
}

void PassOn(const Trace& trace, Headers& request) {
  std::string state;
  if (trace.is_continued()) {
    const auto [first, last] = request.equal_range(kTraceState);
    for (auto one = first; one != last; ++one) (state += state.empty() ? "" : ",") += ValueOf(one->value());
  }
  while (state.size() > kMaxState) {
    const size_t comma = state.rfind(',');
    state.resize(comma == state.npos ? 0 : comma);
  }
  request.set(kTraceParent, trace.ToHeader());
  request.erase(kTraceState);
  if (!state.empty()) request.set(kTraceState, state);
}

}  // namespace wasinn::serve
