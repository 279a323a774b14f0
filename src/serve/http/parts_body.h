// A body of several parts, written from their own memory.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional/optional.hpp>

#include <string>
#include <utility>
#include <vector>

#include "serve/oip/inference.h"

namespace wasinn::serve {

// Beast's concept Body.
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

}  // namespace wasinn::serve
