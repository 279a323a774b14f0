#include "core/isolation/isolated_graph.h"

#include <algorithm>
#include <utility>

#include "core/isolation/segment.h"
#include "core/models/blob.h"

namespace wasinn::isolation {
namespace {

constexpr uint32_t kInputFlags = WASINN_IO_OPTIONAL | WASINN_IO_OPAQUE | WASINN_IO_UNSERVABLE | WASINN_IO_ANY_NAME |
                                 WASINN_IO_STRINGS | WASINN_IO_ROW;
// The worker binds outputs itself, so none is bindable here.
constexpr uint32_t kOutputFlags = WASINN_IO_OPAQUE | WASINN_IO_UNSERVABLE | WASINN_IO_ALWAYS | WASINN_IO_STRINGS;

// A signature costs kTimesItself for each of its bytes beyond kFree. A usual model's is free, but a guest can make a
// model with a million inputs.
constexpr size_t kFree = 64u << 10, kTimesItself = 6;

// The limit for a max_parallel that a backend reports.
constexpr uint32_t MaxAtOnce(uint32_t reported) {
  if (reported == UINT32_MAX) return reported;
  return reported == 0 ? Connection::kMaxComputes : std::min(reported, Connection::kMaxComputes);
}

}  // namespace

core::Result<std::unique_ptr<IsolatedGraph>> IsolatedGraph::Load(IsolatedBackend& backend,
                                                                 std::span<const wasinn_builder* const> builders,
                                                                 const wasinn_load_options& options) {
  ASSIGN_OR_RETURN(auto connection, backend.Connect());
  std::unique_ptr<IsolatedGraph> graph(new IsolatedGraph(backend, std::move(connection), options.account));
  RETURN_IF_ERROR(graph->LoadThere(builders, options));
  return graph;
}

core::Status IsolatedGraph::LoadThere(std::span<const wasinn_builder* const> builders,
                                      const wasinn_load_options& options) {
  const Deadline deadline(options, *connection_, number_);
  std::vector<Segment> copies;  // of blobs that are not sealed
  std::vector<int> descriptors;
  std::string digests;
  for (const wasinn_builder* blob : builders) {
    const core::Blob& part = core::BlobView::Of(*blob);
    digests += (digests.empty() ? "" : "+") + part.Digest();
    descriptors.push_back(part.descriptor());
    if (part.descriptor() >= 0) continue;
    ASSIGN_OR_RETURN(Segment copy, Segment::MakeCopy(part.bytes()));
    descriptors.back() = copy.descriptor();
    copies.push_back(std::move(copy));
  }
  connection_->Hold(number_, std::move(digests));
  Connection::Call call(*connection_, Op::kLoad);
  Writer& request = call.request();
  request.Number(number_);
  request.Number(options.target);
  for (const char* text : {options.format, options.host_config, options.guest_config}) request.Text(text);
  request.Number(options.cpu_fallback);
  request.Number(options.max_bytes);
  request.Number(static_cast<uint32_t>(descriptors.size()));
  // Without their paths: the worker opens no files.
  for (const wasinn_builder* blob : builders) request.Number(static_cast<uint64_t>(blob->size));
  call.ExpectAnswer(options.max_bytes == 0 ? kMaxLongBytes : options.max_bytes / kTimesItself);
  loaded_ = true;  // perhaps, even if an exception follows
  core::Status status = call.Run(Connection::Call::Length::kAsLongAsItTakes, descriptors);
  loaded_ = status.ok() || !call.refused();
  if (!status.ok()) return status;
  return Read(call);
}

core::Status IsolatedGraph::Read(Connection::Call& call) {
  const size_t bytes = call.payload().left();
  if (bytes > kFree && !signature_bytes_.Resize(kTimesItself * bytes)) {
    return core::Error(
        WASINN_ERROR_TOO_LARGE,
        "the model's signature of {} bytes takes {}, more than may still be held (limits.max_model_bytes, "
        "max_total_bytes)",
        bytes, kTimesItself * bytes);
  }
  const uint8_t* signature = call.payload().Take(bytes);
  signature_.assign(signature, signature + bytes);
  Reader payload(signature_);
  info_ = {.struct_size = sizeof(wasinn_info),
           .n_inputs = 0,
           .n_outputs = 0,
           .inputs = nullptr,
           .outputs = nullptr,
           .max_parallel = MaxAtOnce(payload.Number<uint32_t>()),
           .flags = payload.Number<uint32_t>() & (WASINN_GRAPH_SHARES_SLOTS | WASINN_GRAPH_STATEFUL)};
  const bool late = payload.Number<uint8_t>() != 0;
  if (!inputs_.Read(payload, kInputFlags) || !outputs_.Read(payload, kOutputFlags)) return call.Nonsense();
  description_ = payload.Text().data();
  if (!payload.ended() || (late && !outputs_.all().empty())) return call.Nonsense();
  info_.n_inputs = static_cast<uint32_t>(inputs_.all().size());
  info_.inputs = inputs_.all().data();
  info_.n_outputs = late ? WASINN_COUNT_UNKNOWN : static_cast<uint32_t>(outputs_.all().size());
  info_.outputs = late ? nullptr : outputs_.all().data();
  if (reserved_.Resize(call.answer().graph_reserved)) return {};
  return core::Error(
      WASINN_ERROR_TOO_LARGE,
      "the model keeps {} bytes besides its own, more than may still be held (limits.max_model_bytes, max_total_bytes)",
      call.answer().graph_reserved);
}

struct IsolatedGraph::Shared {
  IsolatedGraph& graph;
  uint32_t number;
  Segment segment;
};

core::Status IsolatedGraph::Share(size_t bytes, wasinn_tensor& out) {
  ASSIGN_OR_RETURN(Segment segment, Segment::Make(RoundUp(bytes)));
  uint8_t* const data = segment.data();
  auto shared = std::make_unique<Shared>(*this, connection_->NewNumber(), std::move(segment));
  std::map<const void*, uint32_t> added = {{data, shared->number}};
  Connection::Call call(*connection_, Op::kShare);
  call.request().Number(number_);
  call.request().Number(shared->number);
  call.request().Number(static_cast<uint64_t>(shared->segment.size()));
  const int descriptor = shared->segment.descriptor();
  RETURN_IF_ERROR(call.Run(Connection::Call::Length::kQuick, {&descriptor, 1}));
  shared->segment.Close();
  {
    const std::lock_guard lock(mutex_);
    shared_.merge(added);
  }
  out.data = data;
  out.bytes = bytes;
  out.owner = shared.release();
  out.release = &IsolatedGraph::Unshare;
  return {};
}

void IsolatedGraph::Unshare(void* owner) {
  const std::unique_ptr<Shared> shared(static_cast<Shared*>(owner));
  IsolatedGraph& graph = shared->graph;
  {
    const std::lock_guard lock(graph.mutex_);
    graph.shared_.erase(shared->segment.data());
  }
  graph.connection_->Notify(Op::kUnshare, {graph.number_, shared->number});
}

uint32_t IsolatedGraph::FindShared(const void* data) const {
  const std::lock_guard lock(mutex_);
  const auto found = shared_.find(data);
  return found == shared_.end() ? kArea : found->second;
}

IsolatedGraph::~IsolatedGraph() {
  connection_->Release(number_);
  if (loaded_) connection_->Notify(Op::kUnload, {number_});
}

}  // namespace wasinn::isolation
