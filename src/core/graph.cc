#include "core/graph.h"

#include <mutex>

#include "core/words.h"

namespace wasinn::core {
namespace {

// What a backend registered to interrupt its load.
class LoadCancel {
 public:
  static void Register(void* token, void (*cancel)(void*), void* arg) {
    auto* self = static_cast<LoadCancel*>(token);
    std::lock_guard lock(self->mutex_);
    self->cancel_ = cancel;
    self->arg_ = arg;
  }
  void Call() {
    std::lock_guard lock(mutex_);  // so that nothing is called after it was unregistered
    if (cancel_ != nullptr) cancel_(arg_);
  }

 private:
  std::mutex mutex_;
  void (*cancel_)(void*) = nullptr;
  void* arg_ = nullptr;
};

Status CheckSignature(std::span<const wasinn_io* const> ios, const char* what, const char* backend) {
  for (const wasinn_io* io : ios) {
    if (io->rank <= WASINN_MAX_RANK) continue;
    return Status(WASINN_UNSUPPORTED_OPERATION,
                  fmt::format("{} '{}' has {} dimensions, more than {}", what, io->name, io->rank, WASINN_MAX_RANK),
                  backend);
  }
  return Status();
}

}  // namespace

Result<std::shared_ptr<Graph>> Graph::Load(std::shared_ptr<Backend> backend,
                                           std::span<const std::shared_ptr<const Blob>> parts,
                                           const LoadOptions& options, Watchdog& watchdog) {
  std::vector<BlobView> views;
  views.reserve(parts.size());
  std::vector<const wasinn_blob*> blobs;
  for (const std::shared_ptr<const Blob>& part : parts) blobs.push_back(views.emplace_back(part).get());

  LoadCancel cancel;
  const wasinn_load_options c_options{.struct_size = sizeof(wasinn_load_options),
                                      .encoding = options.encoding,
                                      .target = options.target,
                                      .host_config = options.host_config.c_str(),
                                      .guest_config = options.guest_config.c_str(),
                                      .cpu_fallback = options.cpu_fallback,
                                      .max_bytes = options.max_bytes,
                                      .token = &cancel,
                                      .on_cancel = &LoadCancel::Register};
  Watched load(options.deadline, [&cancel] { cancel.Call(); }, options.stop);
  Watchdog::Watch watch(watchdog, load);
  wasinn_backend_model* model = nullptr;
  load.Begin();
  Status status =
      backend->Take(backend->table().load(backend->state(), blobs.data(), blobs.size(), &c_options, &model));
  const bool overdue = load.End();
  if (!status.ok() && (overdue || load.cancelled())) {
    const std::string why = overdue ? fmt::format("after {} ms", options.deadline.count()) : "by the closing process";
    return std::unexpected(Status(WASINN_TIMEOUT, fmt::format("the load was stopped {}: {}", why, status.message()),
                                  backend->table().name));
  }
  if (!status.ok()) return std::unexpected(std::move(status));

  std::shared_ptr<Graph> graph(new Graph(std::move(backend), model));
  if (Status read = graph->ReadInfo(); !read.ok()) return std::unexpected(std::move(read));
  return graph;
}

Status Graph::ReadInfo() {
  if (Status status = backend_->Take(backend_->table().info(model_, &info_)); !status.ok()) return status;
  if (Status status = CheckSignature(inputs(), "input", backend_->table().name); !status.ok()) return status;
  return CheckSignature(outputs(), "output", backend_->table().name);
}

Graph::~Graph() { backend_->table().unload(model_); }

}  // namespace wasinn::core
