// The body of a message of HTTP: bytes that are charged as they arrive, whatever the header says about their number.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional/optional.hpp>
#include <boost/system/errc.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace wasinn::remote {

// Its memory grows in place, if the system can do that, and is only used when bytes come. `Charge::Add(bytes)` returns
// false if there is no room for so many more.
template <typename Charge>
class HttpBytes {
 public:
  static constexpr size_t kPadding = 64;  // bytes after the end, which simdjson may read

  HttpBytes() = default;
  explicit HttpBytes(Charge charge) : charge_(std::move(charge)) {}

  std::string_view view() const { return {bytes_.get(), size_}; }
  size_t size() const { return size_; }
  Charge& charge() { return charge_; }
  // False: neither the charge nor the memory has room for them.
  [[nodiscard]] bool Append(const void* bytes, size_t size) {
    if (!charge_.Add(size) || !Reserve(size_ + size)) return false;
    std::memcpy(bytes_.get() + size_, bytes, size);
    size_ += size;
    return true;
  }
  // Room for that many in total.
  [[nodiscard]] bool Reserve(size_t size) {
    if (bytes_ != nullptr && size <= room_) return true;
    const size_t room = std::max(size, 2 * room_);
    void* moved = std::realloc(bytes_.get(), room + kPadding);
    if (moved == nullptr) return false;
    (void)bytes_.release();
    bytes_.reset(static_cast<char*>(moved));
    room_ = room;
    return true;
  }
  // The caller frees the bytes, by std::free. NULL: there was never room for any.
  char* Release() {
    size_ = room_ = 0;
    return bytes_.release();
  }

 private:
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };

  Charge charge_;
  std::unique_ptr<char, Free> bytes_;
  size_t size_ = 0, room_ = 0;
};

// Beast's concept Body. Without room it ends in not_enough_memory.
template <typename Charge>
struct HttpBody {
  using value_type = HttpBytes<Charge>;                                        // NOLINT(readability-identifier-naming)
  static uint64_t size(const value_type& body) { return body.view().size(); }  // NOLINT(readability-identifier-naming)

  class reader {  // NOLINT(readability-identifier-naming)
   public:
    template <bool kIsRequest, typename Fields>
    reader(boost::beast::http::header<kIsRequest, Fields>&, value_type& body) : body_(body) {}

    // A small body gets its room at once.
    // NOLINTNEXTLINE(readability-identifier-naming)
    void init(const boost::optional<uint64_t>& length, boost::beast::error_code& error) {
      constexpr uint64_t kSmall = 64u << 10;
      error = Error(body_.Reserve(std::min(length.value_or(0), kSmall)));
    }
    template <typename Buffers>
    size_t put(const Buffers& buffers, boost::beast::error_code& error) {  // NOLINT(readability-identifier-naming)
      size_t taken = 0;
      for (const boost::asio::const_buffer buffer : boost::beast::buffers_range_ref(buffers)) {
        error = Error(body_.Append(buffer.data(), buffer.size()));
        if (error) break;
        taken += buffer.size();
      }
      return taken;
    }
    void finish(boost::beast::error_code& error) { error = {}; }  // NOLINT(readability-identifier-naming)

   private:
    static boost::beast::error_code Error(bool has_room) {
      return has_room ? boost::beast::error_code() : make_error_code(boost::system::errc::not_enough_memory);
    }

    value_type& body_;
  };
};

}  // namespace wasinn::remote
