// An answer that goes from a worker to a request's own thread piece by piece.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>

#include "serve/routes/guest_response.h"
#include "support/test.h"

namespace wasinn::serve {
namespace {

class HandlerStreamTest : public ::testing::Test {
 public:
  std::unique_ptr<HandlerStream> Make(HandlerStream::Work work) {
    return std::make_unique<HandlerStream>(std::move(work), std::make_shared<MemoryBudget>(1000), 100, cancellation_);
  }
  void Run(asio::awaitable<void> what) {
    asio::co_spawn(context_, std::move(what), [](const std::exception_ptr& thrown) {
      if (thrown != nullptr) std::rethrow_exception(thrown);
    });
    context_.run();
  }

  const std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
  const Share share_;
  asio::io_context context_;
  Workers workers_{{.threads = 1}};
};

// As where there is no memory for what its end takes.
TEST_F(HandlerStreamTest, WaitsForItsWorkerIfItIsNotEnded) {
  bool has_left = false;
  Run([](HandlerStreamTest& test, bool& left) -> asio::awaitable<void> {
    const auto stream = test.Make([&test, &left](HandlerStream& its) {
      its.BeginBody({});
      while (!test.cancellation_->is_cancelled()) std::this_thread::yield();
      EXPECT_EQ(its.Write("a"), KeptOutput::State::kNoMemory);
      left = true;
      return Response();
    });
    (void)co_await stream->Begin(test.workers_, test.share_);
    EXPECT_TRUE(stream->is_stream());
  }(*this, has_left));
  EXPECT_TRUE(has_left);
}

TEST_F(HandlerStreamTest, AnEmptyPieceIsNoEnd) {
  std::promise<void> waits;
  std::string reported;
  Run([](HandlerStreamTest& test, std::promise<void>& waiting, std::string& all) -> asio::awaitable<void> {
    const auto stream = test.Make([&waiting](HandlerStream& its) {
      its.BeginBody({});
      waiting.get_future().wait();
      for (const char* piece : {"", "", "a"}) EXPECT_EQ(its.Write(piece), KeptOutput::State::kWhole);
      its.EndBody();
      return Response();
    });
    (void)co_await stream->Begin(test.workers_, test.share_);
    asio::post(test.context_, [&waiting] { waiting.set_value(); });  // runs when this waits
    for (std::optional<std::string> next; (next = co_await stream->Next());) {
      if (next->empty()) break;
      all += *next;
    }
    co_await stream->End();
  }(*this, waits, reported));
  EXPECT_EQ(reported, "a");
}

TEST_F(HandlerStreamTest, WithoutAPlaceThereIsAnAnswer) {
  workers_.Stop();
  Response response;
  Run([](HandlerStreamTest& test, Response& answer) -> asio::awaitable<void> {
    const auto stream = test.Make([](HandlerStream&) { return Response(); });
    answer = co_await stream->Begin(test.workers_, test.share_);
    EXPECT_FALSE(stream->is_stream());
  }(*this, response));
  EXPECT_EQ(response.status, http::status::too_many_requests);
}

}  // namespace
}  // namespace wasinn::serve
