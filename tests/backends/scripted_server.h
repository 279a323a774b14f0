// A server of TCP within the test's own process, that says what a test wants.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace wasinn::testing {

// One connection, as the script sees it.
class ScriptedConnection {
 public:
  explicit ScriptedConnection(int descriptor) : descriptor_(descriptor) {}

  // The next request's head and body (of its Content-Length). "": the client has gone.
  std::string Read();
  // False: the client has gone.
  bool Write(std::string_view text) const;
  // Until the client goes.
  void AwaitEnd() const;
  // So that the client's next byte is answered by a reset.
  void Reset() const;

 private:
  const int descriptor_;
  std::string rest_;
};

class ScriptedServer {
 public:
  // For each connection, on a thread of its own. It ends when the script does.
  using Script = std::function<void(ScriptedConnection&)>;

  explicit ScriptedServer(Script script);
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_); }
  // Those that there were, and those that there are.
  size_t connections() const;
  size_t open() const;

 private:
  void Accept();
  void Serve(int descriptor);

  const Script script_;
  int listener_ = -1, port_ = 0;
  mutable std::mutex mutex_;  // guards the members below
  bool is_ending_ = false;
  std::vector<int> open_;
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

}  // namespace wasinn::testing
