// The body of an answer, in memory that becomes a gRPC slice without a copy.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional/optional.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

#include "remote/exchange.h"

namespace wasinn::remote {

// One block that grows as bytes arrive: a length that a server announces allocates little by itself.
class HttpMemory {
 public:
  // Allocates no more than this. `charge` may be empty.
  void Limit(uint64_t bytes, Charge charge) {
    most_ = std::min(most_, bytes);
    charge_ = std::move(charge);
  }
  // The same, for the length that a server announces.
  void Expect(uint64_t bytes) { most_ = std::min(most_, bytes); }
  // Returns false if memory is missing or the charge refuses it.
  bool Append(const void* data, size_t bytes);
  // Returns the bytes, and leaves nothing.
  grpc::ByteBuffer Take();
  size_t size() const { return size_; }
  const char* data() const { return block_.get(); }

 private:
  struct Free {
    void operator()(char* block) const { std::free(block); }
  };
  std::unique_ptr<char, Free> block_;
  size_t size_ = 0, capacity_ = 0;
  uint64_t most_ = UINT64_MAX;
  Charge charge_;
};

// A Body of Boost.Beast.
struct HttpBody {
  using value_type = HttpMemory;

  static uint64_t size(const value_type& body) { return body.size(); }

  class reader {
   public:
    template <bool is_request, typename Fields>
    reader(boost::beast::http::header<is_request, Fields>& /*head*/, value_type& body) : body_(body) {}

    void init(const boost::optional<uint64_t>& length, boost::beast::error_code& error) {
      if (length) body_.Expect(*length);
      error = {};
    }
    template <typename Buffers>
    size_t put(const Buffers& buffers, boost::beast::error_code& error) {
      size_t n = 0;
      error = {};
      for (const boost::asio::const_buffer one : boost::beast::buffers_range_ref(buffers)) {
        if (!body_.Append(one.data(), one.size())) error = boost::asio::error::no_memory;
        n += one.size();
      }
      return n;
    }
    void finish(boost::beast::error_code& error) { error = {}; }

   private:
    value_type& body_;
  };
};

}  // namespace wasinn::remote
