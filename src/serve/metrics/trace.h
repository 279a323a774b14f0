// The trace of a request, by W3C's Trace Context: https://www.w3.org/TR/trace-context/
#pragma once

#include <boost/beast/http/message.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace wasinn::serve {

struct Trace {
  uint64_t high = 0, low = 0;  // the halves of its id; both 0: there is no trace
  uint64_t span = 0;           // for this request
  uint64_t parent = 0;         // the caller's span; 0: the trace begins here
  unsigned flags = 0;          // sampled (1) and random (2), from the caller

  bool is_continued() const { return parent != 0; }
  // In lower-case hex. "": there is none.
  std::string trace_id() const;
  std::string span_id() const;
  std::string parent_id() const;
  // The value of the header `traceparent`, for the next server and for the client.
  std::string ToHeader() const;
};

// The trace that the only header `traceparent` continues. "", or an invalid value, begins a new one.
Trace ContinueTrace(std::string_view traceparent);
// For a request: several such headers count as none.
Trace TraceOf(const boost::beast::http::request_header<>& request);

// Sets the headers of a request for the next server, with this span as the parent. The state (`tracestate`) of a trace
// that is not continued is removed; if it has more than 512 bytes, its oldest entries are.
void PassOn(const Trace& trace, boost::beast::http::request_header<>& request);

// Facts about a request besides the question and the answer. The code that answers it fills this.
struct About {
  std::string model, tenant;  // "": none
  Trace trace;
};

}  // namespace wasinn::serve
