#include "tensorflow/session.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include "common/dtype.h"
#include "common/throw.h"

namespace wasinn::tensorflow {

using backend::Error;
using backend::Throw;

namespace {

void AppendVarint(uint64_t value, std::string* bytes) {
  for (; value >= 0x80; value >>= 7) bytes->push_back(static_cast<char>(value | 0x80));
  bytes->push_back(static_cast<char>(value));
}

// A ConfigProto (config.proto), written by hand:
//   1 device_count {"GPU": 0}, where the CPU shall compute
//   2 intra_op_parallelism_threads: the pool that operations share, one for the OS process, made by its first session
//   5 inter_op_parallelism_threads -1: operations run one after the other on the caller's thread
//   10 graph_options {3 optimizer_options {6 max_folded_constant_in_bytes}, 10 rewrite_options {3 constant_folding 2}}:
//      a second optimizer, which comes first, folds what has one value all over, however large; so it is off
std::string MakeConfig(int threads, Device device, Folding folding) {
  std::string bytes;
  if (device == Device::kCpu) bytes.append("\x0a\x07\x0a\x03GPU\x10\x00", 9);
  bytes.push_back(2 << 3);
  AppendVarint(static_cast<uint64_t>(threads), &bytes);
  bytes.push_back(5 << 3);
  AppendVarint(static_cast<uint64_t>(int64_t{-1}), &bytes);
  if (folding == Folding::kLittle) bytes += "\x52\x0a\x1a\x04\x30\x80\xa0\x06\x52\x02\x18\x02";
  return bytes;
}

}  // namespace

TfPtr<TF_SessionOptions> MakeSessionOptions(const TfLibrary& library, int threads, Device device, Folding folding) {
  TfPtr<TF_SessionOptions> options(library->TF_NewSessionOptions(), library->TF_DeleteSessionOptions);
  const TfPtr<TF_Status> status = library.NewStatus();
  const std::string config = MakeConfig(threads, device, folding);
  library->TF_SetConfig(options.get(), config.data(), config.size(), status.get());
  library.Check(status.get(), "session options");
  return options;
}

TfGraph NewGraph(const TfLibrary& library) { return {library->TF_NewGraph(), library->TF_DeleteGraph}; }

TF_Output Session::Find(const std::string& tensor) const {
  const size_t colon = tensor.rfind(':');
  const std::string node = tensor.substr(0, colon);
  int index = 0;
  bool good = true;
  if (colon != std::string::npos) {
    const char* end = tensor.data() + tensor.size();
    const auto [stop, error] = std::from_chars(tensor.data() + colon + 1, end, index);
    good = error == std::errc() && stop == end;
  }
  TF_Operation* operation = good ? library_->TF_GraphOperationByName(graph(), node.c_str()) : nullptr;
  if (operation == nullptr || index < 0 || index >= library_->TF_OperationNumOutputs(operation)) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "the graph has no tensor '{}'", tensor);
  }
  return {operation, index};
}

bool Session::Serve(const TensorSet& set, size_t most) {
  if (std::ranges::all_of(set, std::identity())) return true;
  const std::lock_guard lock(mutex_);
  if (sets_.contains(set)) return true;
  if (sets_.size() >= most) return false;
  sets_.insert(set);
  return true;
}

bool Session::ServeShared(const TensorSet& set) {
  constexpr size_t kMaxSets = 8;
  if (Serve(set, 0)) return true;
  const std::lock_guard lock(mutex_);
  if (sets_.contains(set)) return true;
  if (sets_.size() >= kMaxSets) return false;
  try {
    sets_charged_.Resize(backend::MulSat(bytes_of_set_, sets_.size() + 1));
  } catch (const Error&) {
    return false;
  }
  sets_.insert(set);
  return true;
}

bool Session::Enter() {
  if (closed_) return false;
  uint64_t runs = runs_.load(std::memory_order_relaxed);
  do {
    if ((runs & kRetired) != 0) return false;
  } while (!runs_.compare_exchange_weak(runs, runs + kRun, std::memory_order_acq_rel));
  return true;
}

void Session::Cancel(bool again) {
  // First in any case: Leave removes it again, and no run may begin in a closed session.
  if (!again) runs_.fetch_add(kCancelled, std::memory_order_acq_rel);
  const uint64_t runs = runs_.fetch_or(kRetired, std::memory_order_acq_rel) | kRetired;
  // Other runs here may take this long; then they are repeated elsewhere.
  constexpr auto kGrace = std::chrono::seconds(1);
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  std::chrono::steady_clock::rep since = 0;
  if (!retired_at_.compare_exchange_strong(since, now.count()) &&
      now.count() - since > std::chrono::steady_clock::duration(kGrace).count()) {
    return Close();
  }
  CloseIfOnlyCancelled(runs);
}

}  // namespace wasinn::tensorflow
