// serve-echo-http: the best that Boost.Beast can do. It reads requests and answers each with --answer-bytes bytes.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

asio::awaitable<void> Answer(tcp::socket socket, size_t bytes) {
  beast::tcp_stream stream(std::move(socket));
  beast::flat_buffer buffer;
  try {
    for (bool keep_alive = true; keep_alive;) {
      http::request<http::string_body> request;
      co_await http::async_read(stream, buffer, request, asio::use_awaitable);
      keep_alive = request.keep_alive();
      http::response<http::string_body> response(http::status::ok, request.version());
      response.set(http::field::content_type, "application/json");
      response.keep_alive(keep_alive);
      response.body().assign(bytes, ' ');
      response.prepare_payload();
      co_await http::async_write(stream, response, asio::use_awaitable);
    }
  } catch (const boost::system::system_error&) {  // the client has hung up
  }
}

asio::awaitable<void> Accept(tcp::acceptor& acceptor, asio::io_context& context, size_t bytes) {
  for (;;) {
    tcp::socket socket = co_await acceptor.async_accept(asio::make_strand(context), asio::use_awaitable);
    socket.set_option(tcp::no_delay(true));
    const auto executor = socket.get_executor();
    asio::co_spawn(executor, Answer(std::move(socket), bytes), asio::detached);
  }
}

int Main(int argc, char** argv) {
  CLI::App app("Answer HTTP requests with spaces");
  size_t threads = 1, bytes = 256;
  app.add_option("--threads", threads, "Threads; default 1");
  app.add_option("--answer-bytes", bytes, "Bytes of a body; default 256");
  CLI11_PARSE(app, argc, argv);
  asio::io_context context;
  tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  std::printf("%u\n", acceptor.local_endpoint().port());
  std::fflush(stdout);
  asio::co_spawn(context, Accept(acceptor, context, bytes), asio::detached);
  std::vector<std::jthread> others;
  for (size_t i = 1; i < threads; ++i) others.emplace_back([&context] { context.run(); });
  context.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) try { return Main(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "serve-echo-http: %s\n", error.what());
  return 1;
}
