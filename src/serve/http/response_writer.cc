#include "serve/http/response_writer.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/optional/optional.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "serve/http/http_server.h"
#include "serve/log.h"

namespace wasinn::serve {
namespace {

// A body of several parts, written from their own memory.
struct PartsBody {
  struct value_type {  // NOLINT(readability-identifier-naming)
    std::string text;
    std::vector<OutputTensor> binary;
  };

  static uint64_t size(const value_type& body) {  // NOLINT(readability-identifier-naming)
    uint64_t bytes = body.text.size();
    for (const OutputTensor& part : body.binary) bytes += part.bytes.size();
    return bytes;
  }

  class writer {  // NOLINT(readability-identifier-naming)
   public:
    using const_buffers_type = std::vector<boost::asio::const_buffer>;  // NOLINT(readability-identifier-naming)

    template <bool kIsRequest, typename Fields>
    writer(const boost::beast::http::header<kIsRequest, Fields>&, const value_type& body) : body_(body) {}
    void init(boost::beast::error_code& error) { error = {}; }  // NOLINT(readability-identifier-naming)
    // NOLINTNEXTLINE(readability-identifier-naming)
    boost::optional<std::pair<const_buffers_type, bool>> get(boost::beast::error_code& error) {
      error = {};
      const_buffers_type buffers = {{body_.text.data(), body_.text.size()}};
      for (const OutputTensor& part : body_.binary) buffers.emplace_back(part.bytes.data(), part.bytes.size());
      return {{std::move(buffers), false}};
    }

   private:
    const value_type& body_;
  };
};

// A part that is written at once. A large one has the time of all of its bytes.
constexpr size_t kMaxPart = 64u << 10;

// Whether a body without a length, in answer to this, has an end of its own.
bool IsChunked(const Header& header) { return header.version() == 11; }

}  // namespace

bool ResponseWriter::HasEnd(const Header& header, const Response& response) {
  return response.source == nullptr || IsChunked(header);
}

asio::awaitable<bool> ResponseWriter::Write(const Header& header, Response response, bool keep_alive) {
  return response.source == nullptr ? WriteWhole(header, std::move(response), keep_alive)
                                    : WriteStream(header, std::move(response), keep_alive);
}

asio::awaitable<bool> ResponseWriter::WriteWhole(const Header& header, Response response, bool keep_alive) {
  http::response<PartsBody> message(response.status, header.version());
  if (!response.content_type.empty()) message.set(http::field::content_type, response.content_type);
  for (const auto& [name, value] : response.headers) message.insert(name, value);
  message.body() = {std::move(response.text), std::move(response.binary)};
  message.keep_alive(keep_alive);
  const bool header_alone = header.method() == http::verb::head;
  // Without a body, only the code that left it out knows its length, if any does.
  if (!header_alone || PartsBody::size(message.body()) > 0) message.prepare_payload();
  const bool has_length = response.status != http::status::no_content && response.status != http::status::not_modified;
  if (!has_length) message.erase(http::field::content_length);
  http::response_serializer<PartsBody> serializer(message);
  serializer.split(header_alone);
  MinDataRate min_rate(slow_);
  while (header_alone ? !serializer.is_header_done() : !serializer.is_done()) {
    stream_.tcp().expires_at(min_rate.deadline());
    const auto [error, bytes] = co_await http::async_write_some(stream_, serializer, kAwait);
    bytes_ += bytes;
    if (error) co_return false;
    min_rate.Add(bytes);
  }
  co_return true;
}

asio::awaitable<bool> ResponseWriter::WritePart(std::string_view part, bool is_chunked, MinDataRate& min_rate) {
  stream_.tcp().expires_at(min_rate.deadline());
  std::tuple<boost::beast::error_code, size_t> written;
  if (!is_chunked) {
    written = co_await asio::async_write(stream_, asio::buffer(part), kAwait);
  } else if (part.empty()) {
    written = co_await asio::async_write(stream_, http::make_chunk_last(), kAwait);
  } else {
    written = co_await asio::async_write(stream_, http::make_chunk(asio::buffer(part)), kAwait);
  }
  const auto [error, bytes] = written;
  bytes_ += bytes;
  min_rate.Add(bytes);
  co_return !error;
}

asio::awaitable<bool> ResponseWriter::WritePieces(BodySource& source, bool is_chunked) {
  MinDataRate min_rate(slow_);
  for (;;) {
    const auto waited_from = MinDataRate::Clock::now();
    const std::optional<std::string> next = co_await source.Next();
    min_rate.Skip(MinDataRate::Clock::now() - waited_from);
    if (!next) {
      is_broken_ = !is_chunked;
      co_return false;
    }
    const std::string_view piece = *next;
    if (piece.empty()) co_return !is_chunked || co_await WritePart(piece, is_chunked, min_rate);
    for (size_t at = 0; at < piece.size(); at += kMaxPart) {
      if (!co_await WritePart(piece.substr(at, kMaxPart), is_chunked, min_rate)) co_return false;
    }
  }
}

asio::awaitable<bool> ResponseWriter::WriteStream(const Header& header, Response response, bool keep_alive) {
  const std::unique_ptr<BodySource> source = std::move(response.source);
  const bool is_chunked = IsChunked(header);
  bool is_whole = false;
  try {
    http::response<http::empty_body> message(response.status, header.version());
    message.set(http::field::content_type, response.content_type);
    for (const auto& [name, value] : response.headers) message.insert(name, value);
    message.keep_alive(keep_alive);
    message.chunked(is_chunked);
    http::response_serializer<http::empty_body> serializer(message);
    stream_.tcp().expires_after(slow_);
    const auto [error, bytes] = co_await http::async_write_header(stream_, serializer, kAwait);
    bytes_ += bytes;
    if (!error) is_whole = co_await WritePieces(*source, is_chunked);
  } catch (const std::exception& error) {  // no memory
    LogError(error.what());
    is_broken_ = !is_chunked;
  }
  co_await source->End();
  co_return is_whole;
}

}  // namespace wasinn::serve
