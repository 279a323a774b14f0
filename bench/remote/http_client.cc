#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "bench/remote/native_client.h"

namespace wasinn::bench {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

constexpr const char* kHeaderLength = "Inference-Header-Content-Length";

// Fills a body of JSON and raw bytes (the protocol's binary tensors), sends it, and copies the bytes of the answer out.
class HttpClient final : public NativeClient {
 public:
  HttpClient(const std::string& server, const std::string& model, const std::vector<float>& values)
      : server_(server), path_("/v2/models/" + model + "/infer"), values_(values), out_(values.size()) {
    buffer_.reserve(64 << 10);  // Beast reads as much as the buffer has room for
  }

  void Infer() override {
    if (!socket_.is_open()) Connect();
    http::write(socket_, Request());
    http::response_parser<http::string_body> parser;
    parser.body_limit(boost::none);
    http::read(socket_, buffer_, parser);
    TakeOut(parser.get());
  }

 private:
  void Connect() {
    const size_t colon = server_.rfind(':');
    asio::ip::tcp::resolver resolver(io_);
    asio::connect(socket_, resolver.resolve(server_.substr(0, colon), server_.substr(colon + 1)));
    socket_.set_option(asio::ip::tcp::no_delay(true));
  }

  http::request<http::string_body> Request() const {
    const size_t size = values_.size() * sizeof(float);
    const nlohmann::json input = {
        {"name", "x"}, {"datatype", "FP32"}, {"shape", {values_.size()}}, {"parameters", {{"binary_data_size", size}}}};
    const nlohmann::json parameters = {{"binary_data_output", true}};
    http::request<http::string_body> request(http::verb::post, path_, 11);
    std::string& body = request.body();
    body = nlohmann::json{{"inputs", {input}}, {"parameters", parameters}}.dump();
    request.set(http::field::host, server_);
    request.set(http::field::content_type, "application/octet-stream");
    request.set(kHeaderLength, std::to_string(body.size()));
    body.append(reinterpret_cast<const char*>(values_.data()), size);
    request.prepare_payload();
    return request;
  }

  void TakeOut(const http::response<http::string_body>& response) {
    if (response.result() != http::status::ok) throw std::runtime_error(response.body());
    const std::string_view body = response.body();
    const size_t header = std::stoul(std::string(response.at(kHeaderLength)));
    const auto json = nlohmann::json::parse(body.substr(0, header));
    const size_t size = json.at("outputs").at(0).at("parameters").at("binary_data_size");
    if (size != out_.size() * sizeof(float) || body.size() - header != size) {
      throw std::runtime_error("an answer of another size");
    }
    std::memcpy(out_.data(), body.data() + header, size);
  }

  const std::string server_, path_;
  const std::vector<float> values_;
  std::vector<float> out_;
  asio::io_context io_;
  asio::ip::tcp::socket socket_{io_};
  boost::beast::flat_buffer buffer_;
};

}  // namespace

std::unique_ptr<NativeClient> ConnectHttp(const std::string& server, const std::string& model,
                                          const std::vector<float>& values) {
  return std::make_unique<HttpClient>(server, model, values);
}

}  // namespace wasinn::bench
