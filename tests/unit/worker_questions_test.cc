// A host's questions to zygotes and workers, below the table that backends have: invalid questions, and answers that
// come after the wait for them has ended.
#include <sys/time.h>

#include <csignal>

#include "core/isolation/connection.h"
#include "core/isolation/segment.h"
#include "support/echo.h"
#include "support/this_build.h"
#include "worker/log_lines.h"

namespace wasinn::testing {
namespace {

using isolation::Connection;
using isolation::Op;
using isolation::Segment;
using isolation::Socket;
using isolation::Zygote;
using std::chrono::milliseconds;

isolation::Setting PlainSetting() {
  return {.worker = WorkerFile(),
          .backend = "affine",
          .library = InThisBuild("lib/wasinn-template") + "/libwasinn_backend_template.so",
          .max_model_bytes = 1 << 20,
          .max_tensor_bytes = 1 << 20};
}

// Signals that come again and again, as those of a profiler, until there were `most`.
class Signals {
 public:
  explicit Signals(int most) {
    left = most;
    struct sigaction action{};
    action.sa_handler = &Signals::Take;
    ::sigaction(SIGALRM, &action, &before_);
    Set(5000);
  }
  ~Signals() {
    Set(0);
    ::sigaction(SIGALRM, &before_, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  static inline volatile sig_atomic_t left = 0;

 private:
  static void Set(int microseconds) {
    const timeval every{.tv_sec = 0, .tv_usec = microseconds};
    const itimerval timer{.it_interval = every, .it_value = every};
    ::setitimer(ITIMER_REAL, &timer, nullptr);
  }
  static void Take(int) {
    if (left > 0) left = left - 1;
    if (left == 0) Set(0);
  }

  struct sigaction before_{};
};

TEST(SocketPatience, EndsInSpiteOfSignals) {
  auto pair = Socket::MakePair();
  ASSERT_TRUE(pair);
  ASSERT_TRUE(pair->first.SetPatience(milliseconds(100)).ok());
  std::vector<uint8_t> buffer(16);
  const Signals signals(400);
  EXPECT_EQ(pair->first.Receive(buffer).outcome, Socket::Outcome::kTooLate);
  EXPECT_GT(Signals::left, 200) << "it ended with the signals";
}

pid_t ParentOf(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("PPid:")) return std::stoi(line.substr(5));
  }
  return 0;
}

// It was stopped, and goes on later: what it answers then is for a question that is not asked any more, and no worker's
// but that one's.
TEST(TemplateThatWasLate, MakesNoWorkers) {
  auto parent = Zygote::Start(PlainSetting(), false);
  ASSERT_TRUE(parent) << parent.error().message();
  auto worker = (*parent)->Spawn();
  ASSERT_TRUE(worker);
  const pid_t process = ParentOf(worker->pid);
  ASSERT_GT(process, 1);
  ASSERT_EQ(::kill(process, SIGSTOP), 0);
  ASSERT_TRUE((*parent)->SetPatience(milliseconds(20)).ok());
  EXPECT_EQ((*parent)->Spawn().error().code(), WASINN_ERROR_UNAVAILABLE);
  EXPECT_TRUE((*parent)->gone());
  ASSERT_EQ(::kill(process, SIGCONT), 0);
  auto next = (*parent)->Spawn();
  ASSERT_FALSE(next) << "it says that its process is " << next->pid;
  EXPECT_EQ(next.error().code(), WASINN_ERROR_UNAVAILABLE);
}

// By which some systems share their processors out: threads of one worker do not take the time of another one's.
TEST(WorkersOfATemplate, HaveSessionsOfTheirOwn) {
  auto parent = Zygote::Start(PlainSetting(), false);
  ASSERT_TRUE(parent) << parent.error().message();
  auto worker = (*parent)->Spawn();
  ASSERT_TRUE(worker);
  std::vector<uint8_t> bytes;
  isolation::Writer request(bytes);
  request.Number(Op::kStart);
  PlainSetting().Write(request);
  ASSERT_EQ(worker->channel.Send(request.written()), Socket::Sent::kDone);
  std::vector<uint8_t> answer(isolation::kMaxBytes);
  ASSERT_EQ(worker->channel.Receive(answer).outcome, Socket::Outcome::kMessage);
  EXPECT_EQ(::getsid(worker->pid), worker->pid);
}

// A model whose names are control characters, which are longer when they are shown. The rest comes with later answers.
TEST(WorkerLog, LeavesRoomForAnAnswer) {
  worker::LogLines lines;
  const core::Logger logger = lines.Logger(WASINN_LOG_WARNING);
  constexpr uint32_t kLines = 40;
  for (uint32_t i = 0; i < kLines; ++i) logger.Write(WASINN_LOG_WARNING, std::string(4096, '\x01'));
  std::vector<uint8_t> bytes;
  uint32_t reported = 0;
  for (uint32_t answers = 0; reported < kLines && answers < kLines; ++answers) {
    isolation::Writer answer(bytes);
    lines.Write(answer);
    EXPECT_LT(answer.used(), isolation::kMaxBytes / 2);
    reported += isolation::Reader(answer.written()).Number<uint32_t>();
  }
  EXPECT_EQ(reported, kLines);
}

core::Result<std::shared_ptr<Connection>> StartWorker(const isolation::Setting& setting) {
  auto parent = Zygote::Start(setting, false);
  if (!parent) return std::unexpected(std::move(parent.error()));
  return Connection::Start(*parent, nullptr, setting, [](uint32_t, const char*) {});
}

// As graph 1.
core::Status LoadThere(Connection& connection, const char* format, std::string_view model) {
  const auto segment = Segment::MakeCopy({reinterpret_cast<const uint8_t*>(model.data()), model.size()});
  if (!segment) return core::Copy(segment.error());
  Connection::Call load(connection, Op::kLoad);
  load.request().Number(1u);
  load.request().Number(uint32_t{WASINN_TARGET_CPU});
  for (const char* text : {format, "{}", "{}"}) load.request().Text(text);
  load.request().Number(int32_t{0});
  load.request().Number(uint64_t{0});
  load.request().Number(1u);
  load.request().Number(uint64_t{model.size()});
  load.ExpectAnswer(isolation::kMaxLongBytes);
  const int descriptor = segment->descriptor();
  return load.Run(Connection::Call::Length::kQuick, {&descriptor, 1});
}

// Slot 2, of graph 1.
core::Status MakeSlotThere(Connection& connection) {
  Connection::Call slot(connection, Op::kNewSlot);
  slot.request().Number(1u);
  slot.request().Number(2u);
  slot.request().Number(uint64_t{0});
  slot.request().Text("{}");
  return slot.Run(Connection::Call::Length::kQuick);
}

// There is memory for its long names, and none for an answer that has each of them twice.
TEST(WorkerWithoutMemory, KeepsNoModelThatItCannotReport) {
  isolation::Setting setting = PlainSetting();
  setting.backend = "echo";
  setting.library = EchoFolder() + "/libwasinn_backend_echo.so";
  const auto connection = StartWorker(setting);
  ASSERT_TRUE(connection) << connection.error().message();
  std::string directives;
  for (int i = 0; i < 40; ++i) directives += "in " + std::to_string(i) + std::string(1u << 20, 'n') + " f32 1\n";
  const core::Status loaded = LoadThere(**connection, "ggml", EchoModel(directives));
  if (loaded.ok()) GTEST_SKIP() << "its memory has no limit here";
  EXPECT_EQ(loaded.message(), "out of memory");
  EXPECT_EQ(MakeSlotThere(**connection).message(), "a worker has no model 1");
}

class WorkerQuestions : public ::testing::Test {
 protected:
  // y = 2 x.
  void SetUp() override {
    auto started = StartWorker(PlainSetting());
    ASSERT_TRUE(started) << started.error().message();
    connection = std::move(*started);
    std::string model(16, '\0');
    const float numbers[] = {2, 0};
    std::memcpy(model.data(), "AFF1", 4);
    std::memcpy(model.data() + 4, numbers, sizeof(numbers));
    const core::Status loaded = LoadThere(*connection, "affine", model);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    const core::Status made = MakeSlotThere(*connection);
    ASSERT_TRUE(made.ok()) << made.message();
  }

  // How a question about slot 2 ends; `reset` is of those that bind.
  core::Status Ask(Op op, bool reset = false) {
    Connection::Call call(*connection, op);
    if (op == Op::kCompute) call.request().Number(isolation::kAnyProcessor);
    call.request().Number(2u);
    if (op == Op::kPiece) call.request().Number(0u);
    if (op == Op::kStep || op == Op::kCompute) {
      call.request().Number(uint64_t{1});  // turn
      call.request().Number(static_cast<uint8_t>(reset));
      call.request().Number(0u);  // bindings
    }
    if (op == Op::kCompute) isolation::WriteComputeOptions(call.request(), {});
    return call.Run(Connection::Call::Length::kQuick);
  }

  std::shared_ptr<Connection> connection;
};

TEST_F(WorkerQuestions, OfFunctionsThatABackendHasNot) {
  for (const Op op : {Op::kStep, Op::kPiece, Op::kFinish}) {
    EXPECT_EQ(Ask(op).code(), WASINN_ERROR_UNSUPPORTED_OPERATION) << static_cast<uint32_t>(op);
  }
  EXPECT_EQ(Ask(Op::kCompute, true).code(), WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_EQ(Ask(Op::kCompute).code(), WASINN_ERROR_INVALID_ARGUMENT) << "its input is not set";
  EXPECT_FALSE(connection->lost());
}

// Else the worker would keep it as long as it lives, and it would not be charged.
TEST_F(WorkerQuestions, FreedObjectsAreReportedEvenIfAllChannelsAreInUse) {
  std::deque<Connection::Call> calls;
  while (calls.size() < Connection::kMaxChannels) calls.emplace_back(*connection, Op::kShow);
  connection->Notify(Op::kFreeSlot, {2});
  calls.clear();
  EXPECT_EQ(Ask(Op::kShow).message(), "a worker has no context 2");
  EXPECT_FALSE(connection->lost());
}

// A compute whose outputs did not fit asks for room, and for the outputs once more.
TEST_F(WorkerQuestions, ACallAsksAgainThoughAllChannelsAreInUse) {
  std::deque<Connection::Call> calls;
  while (calls.size() < Connection::kMaxChannels) calls.emplace_back(*connection, Op::kShow);
  Connection::Call& call = calls.front();
  for (const uint32_t number : {98u, 99u}) {
    call.Again(Op::kFinish);
    call.request().Number(number);
    const core::Status status = call.Run(Connection::Call::Length::kQuick);
    EXPECT_EQ(status.message(), "a worker has no context " + std::to_string(number));
  }
  Connection::Call other(*connection, Op::kShow);
  EXPECT_EQ(other.Run(Connection::Call::Length::kQuick).code(), WASINN_ERROR_UNAVAILABLE);
  EXPECT_FALSE(connection->lost());
}

}  // namespace
}  // namespace wasinn::testing
