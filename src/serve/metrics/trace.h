// The trace of which a request is a part, by W3C's Trace Context: https://www.w3.org/TR/trace-context/
#pragma once

#include <boost/beast/http/message.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace wasinn::serve {

struct Trace {
  uint64_t high = 0, low = 0;  // the halves of its id; both 0: there is no trace
  uint64_t span = 0;           // of the request here
  uint64_t parent = 0;         // the caller's span; 0: the trace begins here
  unsigned flags = 0;          // sampled (1) and random (2), as the caller has them

  bool is_continued() const { return parent != 0; }
  // In lower-case hex, as all tell them. "": there is none.
  std::string trace_id() const;
  std::string span_id() const;
  std::string parent_id() const;
  // The value of the header `traceparent`, for whom the request is passed on to and for whom asked.
  std::string ToHeader() const;
};

// The trace that the value of the one header `traceparent` continues. "", or a value that is none, begins a new one.
Trace ContinueTrace(std::string_view traceparent);
// Of a request: several such headers are none.
Trace TraceOf(const boost::beast::http::request_header<>& request);

// Makes a request's headers those of the next one to answer it, whose parent is this one. A state (`tracestate`) of a trace that is not
// continued goes; of one of more than 512 bytes, the oldest entries.
void PassOn(const Trace& trace, boost::beast::http::request_header<>& request);

}  // namespace wasinn::serve
