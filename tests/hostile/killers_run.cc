#include "hostile/killers_run.h"

#include <algorithm>

#include "hostile/run.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

// The arguments of the guests `killers`; what they bring is written to the folder.
std::vector<std::string> Arguments(const Killer& killer, const TempFolder& folder) {
  std::string files, honest;
  const std::vector<std::string> parts = killer.parts();
  for (size_t i = 0; i < parts.size(); ++i) {
    folder.Write(std::to_string(i), parts[i]);
    files += (i == 0 ? "/made/" : ",/made/") + std::to_string(i);
  }
  for (const std::string& file : killer.honest) honest += (honest.empty() ? "/models/" : ",/models/") + file;
  return {std::to_string(killer.encoding), honest, files};
}

}  // namespace

void ExpectAnError(const Killer& killer, const std::string& guest, const std::string& error) {
  const TempFolder folder;
  const GuestRun run{.guest = guest,
                     .args = Arguments(killer, folder),
                     .flags = {"--nn-load", "isolated", "--nn-max-bytes", std::to_string(kKillersBytes), "--dir",
                               folder.path().string() + "::/made", "--dir", SourcePath("models") + "::/models"},
                     .settings = "limits.load_timeout_ms = " + std::to_string(kLoadDeadline) +
                                 "\nlimits.compute_timeout_ms = " + std::to_string(killer.deadline_ms) + "\n"};
  size_t peak_bytes = 0;
  const CommandResult result = run.Measure(&peak_bytes);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::vector<std::string> lines = {kHonest};
  if (killer.function == "compute") lines.emplace_back("load: success");
  lines.insert(lines.end(), {killer.function + ": " + error, "a good model: a 2", kHonest});
  EXPECT_EQ(Lines(result.out), lines) << result.err;
  const std::vector<std::string> log = GuestLog(result);
  std::vector<std::string> words = killer.log;
  if (HasAddressSanitizer()) words.resize(1);  // which ends a worker in a way of its own
  EXPECT_TRUE(std::ranges::any_of(log, [&](const std::string& line) { return HasInOrder(line, words); })) << result.err;
  // What fills a worker is none of the host's.
  EXPECT_LT(peak_bytes >> 20, HasAddressSanitizer() ? 1500u : 700u) << "MiB";
}

}  // namespace wasinn::testing
