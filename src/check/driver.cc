#include "check/driver.h"

#include "common/dtype.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <future>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "check/expect.h"

namespace wasinn::check {

namespace {

using Query = const wasinn_backend* (*)(uint16_t, uint16_t);

// Read by its own size, as a host reads it.
wasinn_backend OpenTable(const std::string& backend) {
  // Never closed, like the core's libraries.
  void* handle = dlopen(backend.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  auto query = reinterpret_cast<Query>(dlsym(handle, "wasinn_backend_query"));
  if (query == nullptr) throw std::runtime_error("no wasinn_backend_query");
  const wasinn_backend* table = query(WASINN_BACKEND_ABI_MAJOR, WASINN_BACKEND_ABI_MINOR);
  if (table == nullptr) throw std::runtime_error("it gives no table for this version");
  wasinn_backend copy = {};
  std::memcpy(&copy, table, std::min<size_t>(table->struct_size, sizeof copy));
  if (copy.name == nullptr) throw std::runtime_error("its table has no name");
  return copy;
}

wasinn_tensor Describe(const Tensor& tensor) {
  return {.struct_size = sizeof(wasinn_tensor),
          .dtype = static_cast<uint32_t>(tensor.dtype),
          .rank = static_cast<uint32_t>(tensor.dims.size()),
          .dims = tensor.dims.data(),
          .data = nullptr,
          .bytes = tensor.bytes.size()};
}

}  // namespace

Result TakeError(wasinn_error* error) {
  if (error == nullptr) return {};
  Result result{static_cast<wasinn_code>(error->code), error->message == nullptr ? "" : error->message};
  error->release(error);
  return result;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Host::Host(const std::string& config, uint32_t threads, const std::string& backend)
    : table_(OpenTable(backend)),
      services_{.struct_size = sizeof(services_), .host = this, .log = Write, .threads = threads, .reserve = Reserve} {
  opened_ = TakeError(table_.open(&services_, config.c_str(), &state_));
}

std::string Host::NameIn(const std::string& backend) { return OpenTable(backend).name; }

Host::~Host() {
  if (state_ != nullptr) table_.close(state_);
}

const wasinn_backend_info* Host::info() const {
  const wasinn_backend_info* info = nullptr;
  TakeError(table_.backend_info(state_, &info));
  return info;
}

std::string Host::log() const {
  std::lock_guard lock(mutex_);
  return log_;
}

void Host::Write(void* self, uint32_t level, const char* message) {
  constexpr const char* kNames[] = {"error", "warning", "info", "debug"};
  auto* host = static_cast<Host*>(self);
  std::lock_guard lock(host->mutex_);
  EXPECT_TRUE(level <= WASINN_LOG_DEBUG) << "a line of the log has the level " << level << ", which there is not";
  host->log_ += std::string(kNames[std::min<size_t>(level, std::size(kNames) - 1)]) + ": " + message + "\n";
}

uint32_t Host::Reserve(void*, void* account, int64_t bytes) {
  if (account == nullptr) return WASINN_OK;
  auto& self = *static_cast<Account*>(account);
  const uint64_t used = self.used += static_cast<uint64_t>(bytes);
  if (bytes > 0 && used > self.limit) {
    self.used -= static_cast<uint64_t>(bytes);
    return WASINN_ERROR_TOO_LARGE;
  }
  EXPECT_TRUE(used <= INT64_MAX) << "more was given back than was charged";
  uint64_t most = self.most;
  while (used > most && !self.most.compare_exchange_weak(most, used)) {
  }
  return WASINN_OK;
}

namespace {

// A model's bytes: a copy of exactly their size, so that a sanitizer sees a read past the end, until its last user is
// gone.
struct Bytes {
  Bytes(const std::string& bytes, const LoadOptions& options)
      : copy(new uint8_t[bytes.size()]), path(options.path), keeps_bytes(options.keeps_bytes) {
    std::memcpy(copy.get(), bytes.data(), bytes.size());
    builder = {.struct_size = sizeof(builder),
               .data = copy.get(),
               .size = bytes.size(),
               .path = path.empty() ? nullptr : path.c_str(),
               .owner = this,
               .retain = Retain,
               .release = Release};
  }

  static void Retain(void* self) {
    EXPECT_TRUE(static_cast<Bytes*>(self)->keeps_bytes) << "the model's bytes are kept, which nobody needs after load";
    ++static_cast<Bytes*>(self)->references;
  }
  static void Release(void* self) {
    if (--static_cast<Bytes*>(self)->references == 0) delete static_cast<Bytes*>(self);
  }

  const std::unique_ptr<uint8_t[]> copy;
  const std::string path;
  const bool keeps_bytes;
  std::atomic<int> references{1};
  wasinn_builder builder;
};

}  // namespace

Model::Model(const Host& host, const std::string& bytes, const LoadOptions& options) : host_(host) {
  if (host.state() == nullptr) throw std::runtime_error(host.opened().message);
  std::vector<std::unique_ptr<Bytes>> held;
  std::vector<const wasinn_builder*> builders;
  builders.reserve(1 + options.more_bytes.size());
  held.push_back(std::make_unique<Bytes>(bytes, options));
  for (const std::string& more : options.more_bytes) held.push_back(std::make_unique<Bytes>(more, options));
  for (const auto& one : held) builders.push_back(&one->builder);
  const wasinn_load_options load = {.struct_size = sizeof(load),
                                    .target = options.target,
                                    .format = options.encoding.c_str(),
                                    .host_config = options.host_config.c_str(),
                                    .guest_config = options.guest_config.c_str(),
                                    .cpu_fallback = options.cpu_fallback,
                                    .max_bytes = options.max_bytes,
                                    .token = options.token,
                                    .on_cancel = options.on_cancel,
                                    .account = options.account};
  loaded_ = TakeError(host.table().load(host.state(), builders.data(), builders.size(), &load, &model_));
  for (auto& one : held) Bytes::Release(one.release());
}

Model::~Model() {
  if (model_ != nullptr) host_.table().unload(model_);
}

const wasinn_info& Model::info() const {
  const wasinn_info* info = nullptr;
  TakeError(host_.table().info(model_, &info));
  return *info;
}

Context::Context(const Model& model, uint64_t max_bytes, const std::string& guest_config, Account* account)
    : model_(model) {
  const wasinn_slot_options options = {
      .struct_size = sizeof(options), .max_bytes = max_bytes, .guest_config = guest_config.c_str(), .account = account};
  const Result made = TakeError(model.host().table().slot_new(model.get(), &options, &context_));
  EXPECT_TRUE(made) << "no slot can be made: " << made.message;
}

Context::~Context() {
  if (context_ != nullptr) model_.host().table().slot_free(context_);
}

Context::Memory Context::Allocate(size_t bytes) {
  const size_t all = bytes + WASINN_TENSOR_TAIL + WASINN_TENSOR_ALIGNMENT - 1;
  return Memory(std::aligned_alloc(WASINN_TENSOR_ALIGNMENT, all / WASINN_TENSOR_ALIGNMENT * WASINN_TENSOR_ALIGNMENT));
}

Result Context::Set(uint32_t index, const Tensor& tensor) {
  const wasinn_backend& table = model_.host().table();
  Bound& bound = bound_[index];
  const bool opaque = index < model_.info().n_inputs && (model_.input(index).flags & WASINN_IO_OPAQUE) != 0;
  const bool same = bound.dtype == tensor.dtype && bound.dims == tensor.dims && !opaque;
  if (bound.memory == nullptr || bound.bytes != tensor.bytes.size()) {
    if (bound.memory != nullptr) table.unbind_input(context_, index);
    bound = {};
    bound.memory = Allocate(tensor.bytes.size());
    bound.bytes = tensor.bytes.size();
  }
  if (!tensor.bytes.empty()) std::memcpy(bound.memory.get(), tensor.bytes.data(), tensor.bytes.size());
  if (same && bound.dtype != WASINN_DTYPE_UNKNOWN) return {};
  wasinn_tensor described = Describe(tensor);
  described.data = bound.memory.get();
  const Result result = TakeError(table.bind_input(context_, index, &described));
  bound.dtype = result ? tensor.dtype : WASINN_DTYPE_UNKNOWN;
  bound.dims = tensor.dims;
  return result;
}

Result Context::Bind(uint32_t index, const wasinn_tensor& tensor) {
  const Result result = TakeError(model_.host().table().bind_input(context_, index, &tensor));
  bound_.erase(index);
  return result;
}

void Context::Unbind(uint32_t index) {
  model_.host().table().unbind_input(context_, index);
  bound_.erase(index);
}

Result Context::BindOutputs() {
  const wasinn_info& info = model_.info();
  for (uint32_t i = 0; info.outputs != nullptr && i < info.n_outputs; ++i) {
    const wasinn_io& io = *info.outputs[i];
    if ((io.flags & WASINN_IO_BINDABLE) == 0 || outputs_.contains(i) || IsKept(i)) continue;
    const size_t bytes = backend::TensorBytes({io.dims, static_cast<size_t>(io.rank)}, backend::ElementSize(io.dtype));
    OwnOutput own = {.memory = Allocate(bytes),
                     .tensor = {.struct_size = sizeof(wasinn_tensor),
                                .dtype = io.dtype,
                                .rank = static_cast<uint32_t>(io.rank),
                                .dims = io.dims,
                                .data = nullptr,
                                .bytes = bytes,
                                .owner = nullptr,
                                .release = nullptr}};
    own.tensor.data = own.memory.get();
    const Result bound = TakeError(model_.host().table().bind_output(context_, i, &own.tensor));
    if (!bound) return bound;
    outputs_[i] = std::move(own);
  }
  return {};
}

// Waits for the reported end.
wasinn_error* Context::Run(const wasinn_compute_options& options, wasinn_compute_result* result) {
  const wasinn_backend& table = model_.host().table();
  if (!is_async_) return table.compute(context_, &options, result);
  using Promise = std::promise<wasinn_error*>;
  auto promise = std::make_unique<Promise>();  // its owner fulfils it, and may be the last to release it
  std::future<wasinn_error*> end = promise->get_future();
  const auto done = [](void* user, wasinn_error* error) {
    std::unique_ptr<Promise>(static_cast<Promise*>(user))->set_value(error);
  };
  if (wasinn_error* error = table.compute_async(context_, &options, result, done, promise.get())) return error;
  (void)promise.release();
  return end.get();
}

void Context::Keep(std::vector<uint32_t> outputs) {
  kept_ = std::move(outputs);
  for (const uint32_t index : kept_) outputs_.erase(index);
}

bool Context::IsKept(uint32_t output) const { return std::ranges::find(kept_, output) != kept_.end(); }

Result Context::Compute(const std::vector<uint32_t>& wanted) {
  computed_ = false;
  if (Result bound = BindOutputs(); !bound) return bound;
  const wasinn_compute_options options = {.struct_size = sizeof(options),
                                          .n_wanted = static_cast<uint32_t>(wanted.size()),
                                          .wanted = wanted.data(),
                                          .deadline_ms = 0,
                                          .n_kept = static_cast<uint32_t>(kept_.size()),
                                          .kept = kept_.data()};
  wasinn_compute_result result = {.struct_size = sizeof(result)};
  const Result outcome = TakeError(Run(options, &result));
  elsewhere_ = (result.flags & WASINN_OUTPUTS_ELSEWHERE) != 0;
  computed_ = static_cast<bool>(outcome);
  return outcome;
}

const wasinn_tensor* Context::Own(uint32_t index, Result* result) const {
  const auto found = outputs_.find(index);
  const bool is_bindable = model_.info().outputs != nullptr && index < model_.info().n_outputs &&
                           (model_.output(index).flags & WASINN_IO_BINDABLE) != 0;
  if (elsewhere_ || !is_bindable || IsKept(index)) return nullptr;
  if (!computed_ || found == outputs_.end()) *result = {WASINN_ERROR_INVALID_ARGUMENT, "there is no output"};
  return found == outputs_.end() ? nullptr : &found->second.tensor;
}

Result Context::Take(uint32_t index, wasinn_tensor* out) {
  Result result;
  const wasinn_tensor* own = Own(index, &result);
  if (!result) return result;
  if (own == nullptr) return TakeError(model_.host().table().take_output(context_, index, out));
  *out = *own;
  out->owner = outputs_[index].memory.release();
  out->release = [](void* owner) { std::free(owner); };
  outputs_.erase(index);
  return result;
}

Result Context::Reset() {
  Result result = TakeError(model_.host().table().reset(context_));
  computed_ = elsewhere_ = false;
  bound_.clear();
  outputs_.clear();
  return result;
}

void Context::DiscardOutputs() {
  computed_ = false;
  model_.host().table().discard_outputs(context_);
}

Result Context::Get(uint32_t index, Tensor* tensor) {
  wasinn_tensor view = {.struct_size = sizeof(view)};
  Result result;
  const wasinn_tensor* own = Own(index, &result);
  if (!result) return result;
  if (own == nullptr) result = TakeError(model_.host().table().output(context_, index, &view));
  if (!result) return result;
  if (own != nullptr) view = *own;
  tensor->dtype = static_cast<wasinn_dtype>(view.dtype);
  tensor->dims.assign(view.dims, view.dims + view.rank);
  tensor->bytes.assign(static_cast<const char*>(view.data), view.bytes);
  return result;
}

Result Context::Step() { return TakeError(model_.host().table().step(context_)); }

Result Context::Piece(uint32_t index, std::string* bytes) {
  wasinn_tensor view = {.struct_size = sizeof(view)};
  Result result = TakeError(model_.host().table().piece(context_, index, &view));
  if (result) bytes->assign(static_cast<const char*>(view.data), view.bytes);
  return result;
}

Result Context::Finish() { return TakeError(model_.host().table().finish(context_)); }

wasinn_tensor Context::View(uint32_t index) {
  wasinn_tensor view = {.struct_size = sizeof(view)};
  Result result;
  const wasinn_tensor* own = Own(index, &result);
  if (result && own != nullptr) return *own;
  if (result) result = TakeError(model_.host().table().output(context_, index, &view));
  EXPECT_TRUE(result) << "output " << index << " cannot be shown: " << result.message;
  return view;
}

void Context::Cancel() { model_.host().table().cancel(context_); }

Result Context::ComputeCancelled() {
  std::mutex mutex;
  bool inside = false, over = false;
  uint64_t cancels = 0;
  std::thread watchdog([&] {
    for (;; std::this_thread::yield()) {
      const std::lock_guard lock(mutex);
      if (over) return;
      if (!inside) continue;
      Cancel();
      ++cancels;
    }
  });
  const auto set = [&](bool& what, bool value) {
    const std::lock_guard lock(mutex);
    what = value;
    return cancels;
  };
  Result result;
  do {
    set(inside, true);
    result = Compute();
  } while (set(inside, false) == 0);
  set(over, true);
  watchdog.join();
  return result;
}

}  // namespace wasinn::check
