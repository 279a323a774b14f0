// Writes an answer to a connection: whole, or in pieces from its source. Stops if a client reads too slowly.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>

#include "serve/http/http_message.h"
#include "serve/http/http_stream.h"
#include "serve/http/min_data_rate.h"

namespace wasinn::serve {

// For one answer. The stream outlives it.
class ResponseWriter {
 public:
  // `slow`: as in HttpOptions.
  ResponseWriter(HttpStream& stream, std::chrono::milliseconds slow) : stream_(stream), slow_(slow) {}

  // Call it once. `header` is the request's. Returns whether the whole answer was written.
  boost::asio::awaitable<bool> Write(const Header& header, Response response, bool keep_alive);
  uint64_t bytes() const { return bytes_; }
  // Whether the connection's end would look like the answer's.
  bool is_broken() const { return is_broken_; }

  // Whether the answer has an end of its own: else it ends with the connection.
  static bool HasEnd(const Header& header, const Response& response);

 private:
  boost::asio::awaitable<bool> WriteWhole(const Header& header, Response response, bool keep_alive);
  boost::asio::awaitable<bool> WriteStream(const Header& header, Response response, bool keep_alive);
  boost::asio::awaitable<bool> WritePieces(BodySource& source, bool is_chunked);
  // Writes some bytes of it, or with "" its end. Returns whether they were written.
  boost::asio::awaitable<bool> WritePart(std::string_view part, bool is_chunked, MinDataRate& min_rate);

  HttpStream& stream_;
  const std::chrono::milliseconds slow_;
  uint64_t bytes_ = 0;
  bool is_broken_ = false;
};

}  // namespace wasinn::serve
