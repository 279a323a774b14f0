// Many guests for a long time: a million inferences with loads, unloads and killed workers, over all available
// backends. The host's use of resources is sampled and must stay flat. Every result must be right, or be lost with its
// worker.
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "bench/soak/crowd.h"
#include "bench/soak/flat.h"
#include "bench/soak/processes.h"

namespace wasinn::soak {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

struct Flags {
  uint64_t inferences = 1000000, kill_every = 2000, look_every = 10000, seed = 1;
  uint32_t guests = 64, rests = 50;
  std::string sources = ".", worker, csv;
};

void Must(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.message());
}

// A path of the worker's program that only this host uses, so that its processes can be found.
class OwnWorker {
 public:
  explicit OwnWorker(const fs::path& program) {
    std::string name = fs::temp_directory_path() / "wasinn-soak-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    folder_ = name;
    fs::create_symlink(fs::canonical(program), folder_ / "wasinn-worker");
  }
  ~OwnWorker() { fs::remove_all(folder_); }
  OwnWorker(const OwnWorker&) = delete;
  OwnWorker& operator=(const OwnWorker&) = delete;
  std::string path() const { return folder_ / "wasinn-worker"; }

 private:
  fs::path folder_;
};

// The measures at one moment.
struct Sample {
  double seconds = 0;
  bool at_rest = false;
  uint64_t inferences = 0;
  Self host;
  uint64_t templates_kib = 0, workers = 0, workers_kib = 0;
  Held held;
};

struct Measure {
  const char* name;
  double (*of)(const Sample& sample);
  // How much it can grow from the end of the warm-up to the end of the run; and the least number of samples that show
  // it.
  double allowed;
  size_t least;
};
constexpr double kSomeKib = 8 << 10;
constexpr Measure kMeasures[] = {
    {"RSS of the host (KiB)", [](const Sample& s) { return static_cast<double>(s.host.rss_kib); }, kSomeKib, 10},
    {"heap of the host (KiB)", [](const Sample& s) { return static_cast<double>(s.host.heap_kib); }, 256, 10},
    {"RSS of the templates (KiB)", [](const Sample& s) { return static_cast<double>(s.templates_kib); }, kSomeKib, 10},
    {"workers", [](const Sample& s) { return static_cast<double>(s.workers); }, 0.5, 1},
    {"descriptors", [](const Sample& s) { return static_cast<double>(s.host.descriptors); }, 0.5, 1},
    {"threads", [](const Sample& s) { return static_cast<double>(s.host.threads); }, 0.5, 1},
};

class Soak {
 public:
  explicit Soak(const Flags& flags) : flags_(flags), worker_(flags.worker), start_(steady_clock::now()) {
    Config config;
    Must(config.Set("worker", worker_.path()));
    Must(config.Set("threads", "1"));
    Must(config.Set("limits.max_log_messages", "0"));
    Result<Host> host = Host::Create(config);
    Must(host.status());
    host_ = std::make_unique<Host>(std::move(*host));
    std::vector<std::string> available;
    for (const BackendReport& backend : host_->Backends()) {
      if (backend.available) available.push_back(backend.name);
    }
    models_ = ModelsIn(flags.sources, available);
    if (models_.empty()) throw std::runtime_error("there is no backend");
    samples_.reserve(flags.rests +
                     // now, so that it does not grow the host's heap later
                     flags.inferences / std::max<uint64_t>(1, flags.look_every));
    if (flags.guests < 2 * models_.size()) {
      throw std::runtime_error("--guests must be " + std::to_string(2 * models_.size()) +
                               " or more: each model has one in the host's process and one in a worker");
    }
    for (Model& model : models_) Learn(model);
    crowd_ = std::make_unique<Crowd>(
        *host_, models_,
        Crowd::Options{.guests = flags.guests,
                       .seed = flags.seed,
                       .kill_every = flags.kill_every,
                       .look_every = flags.look_every,
                       .kill = [this](std::mt19937_64& random) { return KillOne(worker_.path(), random); },
                       .look = [this] { Look(false); }});
  }

  void Run() {
    for (uint32_t rest = 0; rest < flags_.rests && crowd_->counts().failed == 0; ++rest) {
      for (const Model& model : models_) Register(model);
      crowd_->Run(flags_.inferences * (rest + 1) / flags_.rests - flags_.inferences * rest / flags_.rests);
      for (const Model& model : models_) Must(host_->RemoveModel(model.backend()));
      WaitForWorkers();
      ::malloc_trim(0);  // otherwise the free memory varies by tens of MiB between samples
      Look(true);
    }
  }

  // Frees the host. Returns whether all its processes end.
  bool End() {
    host_.reset();
    const auto most = steady_clock::now() + std::chrono::seconds(5);
    while (!FindWorkers(worker_.path()).templates.empty()) {
      if (!Holds(steady_clock::now() < most, "templates outlive their host")) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
  }

  // Returns whether all checks passed.
  bool Report() const {
    const Counts& counts = crowd_->counts();
    std::printf(
        "%llu right, %llu wrong, %llu lost with their workers, %llu failed; %llu workers killed, %llu guests, %llu "
        "loads, %.0f s\n",
        Number(counts.right), Number(counts.wrong), Number(counts.lost), Number(counts.failed), Number(counts.kills),
        Number(counts.guests), Number(counts.loads), Seconds());
    for (size_t i = 0; i < models_.size(); ++i) {
      std::printf("  %s: %llu in the host's process, %llu in workers\n", models_[i].backend().c_str(),
                  static_cast<unsigned long long>(crowd_->right(i, false)),
                  static_cast<unsigned long long>(crowd_->right(i, true)));
    }
    bool well = Holds(counts.failed == 0, "failed: " + crowd_->first_failure());
    well &= Holds(counts.wrong == 0, "results are wrong");
    well &= Holds(counts.lost <= counts.kills, "more was lost than workers were killed");
    well &= Holds(counts.kept_handles == 0 && counts.kept_bytes == 0, "guests held something that they had given back");
    for (const Measure& measure : kMeasures) well &= StaysFlat(measure);
    return well;
  }

  void WriteCsv() const {
    if (flags_.csv.empty()) return;
    std::ofstream file(flags_.csv);
    file << "seconds,at_rest,inferences,host_rss_kib,host_heap_kib,templates_rss_kib,workers,workers_rss_kib,"
            "descriptors,threads,"
            "guests,"
            "handles,bytes\n";
    for (const Sample& s : samples_) {
      file << s.seconds << ',' << s.at_rest << ',' << s.inferences << ',' << s.host.rss_kib << ',' << s.host.heap_kib
           << ',' << s.templates_kib << ',' << s.workers << ',' << s.workers_kib << ',' << s.host.descriptors << ','
           << s.host.threads << ',' << s.held.guests << ',' << s.held.handles << ',' << s.held.bytes << '\n';
    }
    if (!file.flush()) throw std::runtime_error("cannot write " + flags_.csv);
  }

 private:
  static unsigned long long Number(const std::atomic<uint64_t>& number) { return number.load(); }
  double Seconds() const { return std::chrono::duration<double>(steady_clock::now() - start_).count(); }
  static bool Holds(bool condition, const std::string& what) {
    if (!condition) std::fprintf(stderr, "soak: %s\n", what.c_str());
    return condition;
  }

  void Register(const Model& model) const {
    ModelOptions options;
    options.path = model.files().front();
    Must(host_->AddModel(model.backend(), options));
  }
  // In the host's process, before all other inferences.
  void Learn(Model& model) const {
    if (model.to_learn().empty()) return;
    Register(model);
    Result<Guest> guest = Guest::Create(*host_);
    Must(guest.status());
    const std::unique_ptr<Inferer> inferer = AsComponent(guest->get());
    inferer->Load(model, model.backend());
    for (Question& question : model.to_learn()) question.output = inferer->Infer(question);
    inferer->Unload();
    Must(host_->RemoveModel(model.backend()));
  }

  // A template takes a moment to notice that a worker has ended.
  void WaitForWorkers() const {
    const auto most = steady_clock::now() + std::chrono::seconds(5);
    const auto has_ended = [](const Process& worker) { return worker.has_ended; };
    for (size_t before = SIZE_MAX; steady_clock::now() < most;) {
      const Workers now = FindWorkers(worker_.path());
      if (now.workers.empty() || (now.workers.size() == before && std::ranges::none_of(now.workers, has_ended))) return;
      before = now.workers.size();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  void Look(bool at_rest) {
    Sample sample{.seconds = Seconds(), .at_rest = at_rest, .inferences = crowd_->counts().right, .host = LookAtSelf()};
    const Workers found = FindWorkers(worker_.path());
    for (const Process& one : found.templates) sample.templates_kib += one.rss_kib;
    for (const Process& one : found.workers) sample.workers_kib += one.rss_kib;
    sample.workers = found.workers.size();
    sample.held = crowd_->held();
    const std::lock_guard lock(mutex_);
    samples_.push_back(sample);
  }

  // Samples at rest, after everything is released. The first fifth is warm-up.
  bool StaysFlat(const Measure& measure) const {
    std::vector<Point> points;
    for (const Sample& sample : samples_) {
      if (sample.at_rest && sample.inferences > flags_.inferences / 5) {
        points.push_back({static_cast<double>(sample.inferences), measure.of(sample)});
      }
    }
    if (points.empty()) return Holds(false, "there is no sample after the warm-up");
    const Growth growth = GrowthOf(points);
    std::printf("  %s: %.0f at the end, %+.1f +- %.1f since the warm-up\n", measure.name, points.back().y, growth.rise,
                growth.error);
    return points.size() < measure.least || Holds(IsFlat(growth, measure.allowed), std::string(measure.name) + " grew");
  }

  const Flags flags_;
  const OwnWorker worker_;
  const steady_clock::time_point start_;
  std::unique_ptr<Host> host_;
  std::vector<Model> models_;
  std::unique_ptr<Crowd> crowd_;
  std::mutex mutex_;
  std::vector<Sample> samples_;
};

int Run(int argc, char** argv) {
  Flags flags;
  flags.worker = fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib/wasinn/wasinn-worker";
  CLI::App app("Let many guests infer for a long time, and check that their host's use of resources stays flat");
  app.add_option("--sources", flags.sources, "The folder of wasinn's sources, whose models are used; default this one");
  app.add_option("--inferences", flags.inferences, "Inferences; default 1000000");
  app.add_option("--guests", flags.guests, "Guests at once, half of them with workers; default 64");
  app.add_option("--rests", flags.rests, "How often all guests release everything; default 50");
  app.add_option("--kill-every", flags.kill_every,
                 "Inferences in workers, after which one of these is killed; default 2000, 0: none");
  app.add_option("--look-every", flags.look_every,
                 "Inferences in workers, after which a sample is taken; default 10000");
  app.add_option("--seed", flags.seed, "Seed of what guests do and of which workers are killed; default 1");
  app.add_option("--worker", flags.worker, "wasinn-worker, if it is not in the folder of the backends");
  app.add_option("--csv", flags.csv, "A file for the samples");
  CLI11_PARSE(app, argc, argv);
  Soak soak(flags);
  soak.Run();
  soak.WriteCsv();
  const bool ended = soak.End();
  return soak.Report() && ended ? 0 : 1;
}

}  // namespace
}  // namespace wasinn::soak

int main(int argc, char** argv) try { return wasinn::soak::Run(argc, argv); } catch (const std::exception& error) {
  std::fprintf(stderr, "soak: %s\n", error.what());
  return 1;
}
