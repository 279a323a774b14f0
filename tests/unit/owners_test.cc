// wasinn.hpp: what goes before what when an owner is assigned to.
#include <wasinn/wasinn.hpp>

#include "support/test.h"
#include "support/this_build.h"

namespace wasinn {
namespace {

// Events of a log function: its calls, and its release.
struct Events {
  std::vector<std::string> list;
};

class Logs {
 public:
  explicit Logs(Events& events) : events_(&events, [](Events* all) { all->list.emplace_back("freed"); }) {}
  void operator()(const wasinn_log_record& record) const { events_->list.emplace_back(record.message); }

 private:
  std::shared_ptr<Events> events_;
};

Result<Host> EchoHost(Events& events) {
  Config config;
  EXPECT_TRUE(config.LoadToml("backend_dirs = ['" + testing::EchoFolder() + "']\nlog.level = 'info'\n").ok());
  return Host::Create(config, Logs(events));
}

void OpenEcho(Host& host) {
  const std::string text = "GGUF\nin x f32 2\n";
  ModelOptions model;
  model.builders = {{reinterpret_cast<const uint8_t*>(text.data()), text.size()}};
  model.preload = true;
  EXPECT_TRUE(host.AddModel("m", model).ok());
}

void ExpectFreedLast(const Events& events) {
  ASSERT_GE(events.list.size(), 2u);
  EXPECT_NE(events.list[events.list.size() - 2].find("closed with 0 models"), std::string::npos)
      << "the backend's last words come from the host that goes";
  EXPECT_EQ(events.list.back(), "freed");
}

TEST(Owners, AHostThatIsAssignedToGoesBeforeItsLogFunction) {
  Events first, second;
  Result<Host> host = EchoHost(first), other = EchoHost(second);
  ASSERT_TRUE(host && other);
  OpenEcho(*host);
  *host = std::move(*other);
  ExpectFreedLast(first);
  OpenEcho(*host);  // the one that was given
  host = EchoHost(first);
  ExpectFreedLast(second);
}

TEST(Owners, AGuestThatIsAssignedToGoesBeforeItsLogFunction) {
  Events first, second;
  Result<Host> host = EchoHost(first), other = EchoHost(second);
  ASSERT_TRUE(host && other);
  OpenEcho(*host);
  Result<Guest> program = Guest::Create(*host), of_other = Guest::Create(*other);
  ASSERT_TRUE(program && of_other);
  host = EchoHost(second);  // the guest alone keeps the first host, and its log function
  EXPECT_NE(first.list.empty() ? "" : first.list.back(), "freed");
  *program = std::move(*of_other);
  ExpectFreedLast(first);
}

// As users of absl::StatusOr expect it.
TEST(ResultOfValue, HasTheStatusOfSuccess) {
  Result<int> value(7);
  EXPECT_TRUE(value.status().ok());
  EXPECT_TRUE(std::move(value).status().ok());
}

}  // namespace
}  // namespace wasinn
