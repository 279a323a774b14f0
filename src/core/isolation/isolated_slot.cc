#include "core/isolation/isolated_slot.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/inference/session.h"
#include "core/memory/tensor.h"

namespace wasinn::isolation {
namespace {

using Length = Connection::Call::Length;

uint64_t FixedBytes(std::span<const wasinn_io* const> ios) {
  uint64_t total = 0;
  for (const wasinn_io* io : ios) {
    if ((io->flags & WASINN_IO_UNSERVABLE) != 0 || !core::IsStatic(*io)) continue;
    const auto bytes = core::StaticSize(*io);
    if (!bytes || __builtin_add_overflow(total, RoundUp(*bytes), &total)) return kNowhere;
  }
  return total;
}

// The longest description of an output from a worker: the largest rank, and more text than an error has.
constexpr uint64_t kBytesOfOutput = 1500;

// For outputs that grow with each step.
uint64_t WithRoom(uint64_t bytes) { return bytes + bytes / 2; }

}  // namespace

IsolatedSlot::IsolatedSlot(IsolatedGraph& graph, void* account)
    : graph_(graph),
      connection_(graph.connection()),
      number_(connection_.NewNumber()),
      fixed_outputs_(FixedBytes(graph.outputs())),
      reserved_(graph.backend().services(), account),
      input_bytes_(graph.backend().services(), account),
      output_bytes_(graph.backend().services(), account),
      piece_bytes_(graph.backend().services(), account),
      word_bytes_(graph.backend().services(), account),
      inputs_(graph.info().n_inputs) {}

core::Result<std::unique_ptr<IsolatedSlot>> IsolatedSlot::Make(IsolatedGraph& graph,
                                                               const wasinn_slot_options& options) {
  RETURN_IF_ERROR(graph.backend().CheckCaller());
  std::unique_ptr<IsolatedSlot> slot(new IsolatedSlot(graph, options.account));
  RETURN_IF_ERROR(slot->MakeThere(options));
  return slot;
}

core::Status IsolatedSlot::MakeThere(const wasinn_slot_options& options) {
  Connection::Call call(connection_, Op::kNewSlot);
  call.request().Number(graph_.number());
  call.request().Number(number_);
  call.request().Number(options.max_bytes);
  call.request().Text(options.guest_config);
  made_ = true;  // perhaps, even if an exception follows
  core::Status status;
  {
    const Deadline deadline(options, connection_, number_);
    status = call.Run(Length::kAsLongAsItTakes);
  }
  made_ = status.ok() || !call.refused();
  if (!status.ok()) return status;
  return Charge(call);
}

IsolatedSlot::~IsolatedSlot() {
  if (made_) connection_.Notify(Op::kFreeSlot, {number_});
}

core::Status IsolatedSlot::Charge(const Connection::Call& call) {
  if (reserved_.Resize(call.answer().slot_reserved)) return {};
  return core::Error(
      WASINN_ERROR_TOO_LARGE,
      "the framework keeps {} bytes for a context, more than may still be held (limits.max_tensor_bytes, "
      "max_total_bytes)",
      call.answer().slot_reserved);
}

core::Status IsolatedSlot::Ask(Op op) {
  Connection::Call call(connection_, op);
  call.request().Number(number_);
  core::Status status = call.Run(Length::kQuick);
  if (status.ok()) status = Charge(call);
  return status;
}

// ---- Inputs

void IsolatedSlot::Bind(uint32_t index, const wasinn_tensor& tensor) {
  Input& input = inputs_[index];
  const std::span<const int64_t> dims(tensor.dims, tensor.rank);
  const bool opaque = (graph_.info().inputs[index]->flags & WASINN_IO_OPAQUE) != 0;
  const bool same = input.bound && input.desc.dtype == tensor.dtype && input.desc.bytes == tensor.bytes &&
                    std::ranges::equal(input.desc.shape(), dims);
  const uint32_t segment = graph_.FindShared(tensor.data);
  const bool stays = same && input.segment == segment;
  input.data = tensor.data;
  if (stays && !opaque) return;
  if (!stays) placed_ = false;
  input.segment = segment;
  input.bound = true;
  input.sent = false;
  input.desc = {core::DescOf(tensor), tensor.bytes};
}

void IsolatedSlot::Unbind(uint32_t index) {
  Input& input = inputs_[index];
  if (!input.bound) return;
  input.bound = false;
  input.sent = false;
  input.data = nullptr;
}

void IsolatedSlot::Reset() {
  for (Input& input : inputs_) {
    input.bound = false;
    input.sent = true;
    input.data = nullptr;
  }
  reset_ = true;
  shows_ = false;
  shown_.clear();
}

// The account does not report which limit it was.
core::Status IsolatedSlot::TooLarge(uint64_t bytes) {
  return core::Error(WASINN_ERROR_TOO_LARGE,
                     "{} bytes of tensors are more than may still be held (limits.max_tensor_bytes, max_total_bytes)",
                     bytes);
}

core::Status IsolatedSlot::UseArea(Op op, Segment& area, base::Reservation& charged, uint64_t bytes, uint64_t free) {
  Connection::Call call(connection_, op);
  return UseArea(call, area, charged, bytes, free);
}

core::Status IsolatedSlot::UseArea(Connection::Call& call, Segment& area, base::Reservation& charged, uint64_t bytes,
                                   uint64_t free) {
  if (!charged.Resize(bytes - std::min(bytes, free))) return TooLarge(bytes);
  core::Status status = ReplaceArea(call, area, bytes);
  if (!status.ok())
    (void)charged.Resize(area.size() - std::min<uint64_t>(area.size(), free));  // it is still the old one
  return status;
}

core::Status IsolatedSlot::ReplaceArea(Connection::Call& call, Segment& area, uint64_t bytes) {
  ASSIGN_OR_RETURN(Segment made, Segment::Make(bytes));
  call.request().Number(number_);
  call.request().Number(bytes);
  const int descriptor = made.descriptor();
  RETURN_IF_ERROR(call.Run(Length::kQuick, {&descriptor, 1}));
  made.Close();
  area = std::move(made);
  return {};
}

core::Status IsolatedSlot::PlaceInputs() {
  if (placed_) return {};
  uint64_t total = 0;
  for (Input& input : inputs_) {
    if (!input.bound || input.segment != kArea) continue;
    if (input.offset != total) input.sent = false;
    input.offset = total;
    total += RoundUp(input.desc.bytes);
  }
  if (total > input_area_.size()) {
    RETURN_IF_ERROR(UseArea(Op::kUseInputArea, input_area_, input_bytes_, total, 0));
    for (Input& input : inputs_) input.sent = input.sent && !input.bound;
  }
  placed_ = true;
  return {};
}

core::Status IsolatedSlot::PlaceOutputs() {
  if (output_area_.size() > 0 || fixed_outputs_ == 0) return {};
  if (fixed_outputs_ == kNowhere) return core::Error(WASINN_ERROR_TOO_LARGE, "the model's outputs are too large");
  return UseArea(Op::kUseOutputArea, output_area_, output_bytes_, fixed_outputs_, fixed_outputs_);
}

void IsolatedSlot::CopyInputs() const {
  for (const Input& input : inputs_) {
    if (input.bound && input.segment == kArea && input.desc.bytes > 0) {
      std::memcpy(input_area_.data() + input.offset, input.data, input.desc.bytes);
    }
  }
}

void IsolatedSlot::WriteBindings(Writer& request) {
  request.Number(static_cast<uint8_t>(reset_));
  request.Number(static_cast<uint32_t>(std::ranges::count(inputs_, false, &Input::sent)));
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    if (input.sent) continue;
    request.Number(i);
    request.Number(input.segment);
    request.Number(!input.bound ? kNowhere : input.segment == kArea ? input.offset : 0);
    if (input.bound) WriteDesc(request, input.desc.dtype, input.desc.shape(), input.desc.bytes);
  }
}

// ---- Computes

core::Status IsolatedSlot::Compute(const wasinn_compute_options& options, wasinn_compute_result& result) {
  return Run(Op::kCompute, &options, &result);
}

core::Status IsolatedSlot::Step() {
  generates_ = true;
  return Run(Op::kStep, nullptr, nullptr);
}

// This processor, if computes are quick: its thread sleeps in the meantime, and waking a thread on another processor
// would take longer than they do.
uint32_t IsolatedSlot::ProcessorToUse() const {
  constexpr std::chrono::microseconds kQuick{200};
  if (connection_.spins() || took_ >= kQuick) return kAnyProcessor;
  const int here = ::sched_getcpu();
  return here < 0 ? kAnyProcessor : static_cast<uint32_t>(here);
}

core::Status IsolatedSlot::Run(Op op, const wasinn_compute_options* options, wasinn_compute_result* result) {
  RETURN_IF_ERROR(graph_.backend().CheckCaller());
  has_turn_.store(false, std::memory_order_release);
  interruption_.Begin();
  shows_ = false;
  const core::Scheduler::Turn turn(connection_.computes(), share_, waiter_);
  if (!turn) {
    return core::Error(WASINN_ERROR_TIMEOUT, "it was still waiting: a worker computes no more than {} at once",
                       Connection::kMaxComputes);
  }
  has_turn_.store(true, std::memory_order_release);
  RETURN_IF_ERROR(PlaceInputs());
  RETURN_IF_ERROR(PlaceOutputs());
  CopyInputs();
  Connection::Call call(connection_, op);
  Writer& request = call.request();
  if (op == Op::kCompute) request.Number(ProcessorToUse());
  request.Number(number_);
  request.Number(turn_.fetch_add(1, std::memory_order_acq_rel) + 1);
  WriteBindings(request);
  call.ExpectAnswer(kBytesOfOutput * graph_.outputs().size());
  if (options != nullptr) WriteComputeOptions(request, *options);
  const auto began = std::chrono::steady_clock::now();
  core::Status status = call.Run(Length::kAsLongAsItTakes);
  took_ = std::chrono::steady_clock::now() - began;
  // After an error it is unknown how far the computes came.
  for (Input& input : inputs_) input.sent = status.ok() || (call.answered() && !input.bound);
  if (call.answered()) reset_ = false;
  if (!status.ok() && status.code() != WASINN_ERROR_CONTEXT_FULL && status.code() != WASINN_ERROR_END_OF_SEQUENCE)
    return status;
  graph_.backend().ClearCaller();
  core::Status read = Charge(call);  // first, because it reads the answer
  if (read.ok()) read = ReadShown(call);
  if (!read.ok()) {  // there are outputs, but none can be read
    call.Again(Op::kDiscard);
    call.request().Number(number_);
    (void)call.Run(Length::kQuick);
    return read;
  }
  shows_ = true;
  if (result != nullptr) result->flags = 0;  // nothing is bound here, so no output is elsewhere
  return status;
}

// ---- Outputs

// The output has the bytes of its shape, inside of the area.
bool IsolatedSlot::ReadOne(Reader& payload, const Segment& area, Shown& shown) {
  shown.code = CodeOf(payload.Number<uint32_t>());
  shown.offset = kNowhere;
  if (shown.code != WASINN_OK) {
    core::Cut(std::string(payload.Text())).swap(shown.message);  // at most as long as in a Status
    return payload.ok();
  }
  std::string().swap(shown.message);
  const auto offset = payload.Number<uint64_t>();
  if (!ReadDesc(payload, shown.desc)) return false;
  // An output that was not wanted may have no bytes, whatever its shape.
  if (shown.desc.bytes != 0 && core::ByteSize(shown.desc.dtype, shown.desc.shape()) != shown.desc.bytes) return false;
  if (offset == kNowhere) return true;
  shown.offset = offset;
  return shown.desc.bytes <= area.size() && offset <= area.size() - shown.desc.bytes;
}

core::Status IsolatedSlot::ReadLate(Connection::Call& call, Reader& payload) {
  constexpr size_t kMax = 1u << 20;
  const size_t bytes = payload.left();
  if (bytes > kMax) return core::Error(WASINN_ERROR_TOO_LARGE, "the model made too many outputs");
  const uint8_t* received = payload.Take(bytes);
  late_bytes_.assign(received, received + bytes);
  payload = Reader(late_bytes_);
  late_ = std::make_unique<Ios>();
  if (!late_->Read(payload, WASINN_IO_UNSERVABLE)) return call.Nonsense();
  const size_t count = late_->all().size();
  if (count <= core::DynamicOutputs::kMax) return {};
  late_.reset();  // the core would refuse them: no account pays for their descriptions
  std::vector<uint8_t>().swap(late_bytes_);
  return core::Error(WASINN_ERROR_TOO_LARGE, "the model made {} outputs, more than {}", count,
                     core::DynamicOutputs::kMax);
}

core::Status IsolatedSlot::ReadShown(Connection::Call& call) {
  Reader payload = call.payload();
  const auto needed = payload.Number<uint64_t>();
  if (graph_.has_dynamic_outputs()) {
    RETURN_IF_ERROR(ReadLate(call, payload));
  }
  const size_t count = graph_.has_dynamic_outputs() ? late_->all().size() : graph_.outputs().size();
  if (payload.Number<uint32_t>() != count) return call.Nonsense();
  shown_.resize(count);
  uint64_t words = late_bytes_.size();
  for (Shown& shown : shown_) {
    if (!ReadOne(payload, output_area_, shown)) return call.Nonsense();
    words += shown.message.size();
  }
  if (!payload.ended()) return call.Nonsense();
  RETURN_IF_ERROR(ChargeWords(words));
  return needed <= output_area_.size() ? ChargeOutputs() : ShowAgain(call, needed);
}

// Asks for the outputs again after they did not fit into their area.
core::Status IsolatedSlot::ShowAgain(Connection::Call& call, uint64_t needed) {
  call.Again(Op::kUseOutputArea);
  RETURN_IF_ERROR(GrowOutputs(call, needed));
  call.Again(Op::kShow);
  RETURN_IF_ERROR(AskToShow(call));
  Reader again = call.payload();
  if (again.Number<uint64_t>() > output_area_.size()) return call.Nonsense();
  return ReadShown(call);
}

core::Status IsolatedSlot::AskToShow(Connection::Call& call) const {
  call.request().Number(number_);
  call.request().Number(static_cast<uint8_t>(reset_));
  call.ExpectAnswer(kBytesOfOutput * graph_.outputs().size());
  return call.Run(Length::kQuick);
}

core::Status IsolatedSlot::GrowOutputs(Connection::Call& call, uint64_t needed) {
  if (needed > SIZE_MAX / 4) return core::Error(WASINN_ERROR_TOO_LARGE, "the outputs of a compute are too large");
  const uint64_t bytes = generates_ ? WithRoom(needed) : needed;
  return UseArea(call, output_area_, output_bytes_, bytes, fixed_outputs_);
}

// The names and errors stay until the next compute.
core::Status IsolatedSlot::ChargeWords(uint64_t bytes) {
  constexpr uint64_t kFree = 64u << 10;
  if (word_bytes_.Resize(bytes <= kFree ? 0 : bytes)) return {};
  std::vector<Shown>().swap(shown_);
  late_.reset();
  std::vector<uint8_t>().swap(late_bytes_);
  (void)word_bytes_.Resize(0);
  return TooLarge(bytes);
}

// Visible outputs are charged by their reader; this charges the rest of the area.
core::Status IsolatedSlot::ChargeOutputs() {
  const uint64_t area = output_area_.size();
  uint64_t shown = 0;
  for (const Shown& one : shown_) {
    if (one.code == WASINN_OK && one.offset != kNowhere) shown = std::min(area, shown + RoundUp(one.desc.bytes));
  }
  if (output_bytes_.Resize(area - std::min(area, std::max(shown, fixed_outputs_)))) return {};
  return TooLarge(area);
}

core::Status IsolatedSlot::ViewOf(const Shown& shown, const Segment& area, wasinn_tensor& view) {
  if (shown.code != WASINN_OK) return {shown.code, shown.message};
  const bool there = shown.offset != kNowhere;
  if (!there && shown.desc.bytes > 0) {
    return {WASINN_ERROR_RUNTIME, "the output was not asked for, or there is none"};
  }
  view = core::ViewOf(shown.desc, {there ? area.data() + shown.offset : nullptr, shown.desc.bytes});
  return {};
}

// Outputs of a compute stay the same until the next, so that no address of a freed area is in use. Before a compute,
// and after one that failed, some outputs are available nevertheless.
core::Status IsolatedSlot::Output(uint32_t index, wasinn_tensor& view) {
  if (!shows_) {
    Connection::Call call(connection_, Op::kShow);
    RETURN_IF_ERROR(AskToShow(call));
    reset_ = false;
    RETURN_IF_ERROR(ReadShown(call));
  }
  if (index >= shown_.size()) return {WASINN_ERROR_RUNTIME, "the worker does not show this output"};
  return ViewOf(shown_[index], output_area_, view);
}

core::Status IsolatedSlot::DynamicOutputs(const wasinn_io* const*& out, uint32_t& n) const {
  if (late_ == nullptr) return {WASINN_ERROR_RUNTIME, "there was no compute"};
  out = late_->all().data();
  n = static_cast<uint32_t>(late_->all().size());
  return {};
}

// Pieces have their own area: outputs that were shown stay where they are.
core::Status IsolatedSlot::Piece(uint32_t index, wasinn_tensor& view) {
  uint64_t needed = 0;
  RETURN_IF_ERROR(ShowPiece(index, needed));
  if (needed > piece_area_.size()) {
    if (needed > SIZE_MAX / 4) return core::Error(WASINN_ERROR_TOO_LARGE, "a piece of output is too large");
    core::Status status = UseArea(Op::kUsePieceArea, piece_area_, piece_bytes_, WithRoom(needed), 0);
    if (!status.ok()) return status;
    if (status = ShowPiece(index, needed); !status.ok()) return status;
  }
  return ViewOf(piece_, piece_area_, view);
}

core::Status IsolatedSlot::ShowPiece(uint32_t index, uint64_t& needed) {
  Connection::Call call(connection_, Op::kPiece);
  call.request().Number(number_);
  call.request().Number(index);
  RETURN_IF_ERROR(call.Run(Length::kQuick));
  needed = call.payload().Number<uint64_t>();
  const bool makes_sense = ReadOne(call.payload(), piece_area_, piece_) && call.payload().ended();
  return makes_sense ? core::Status() : call.Nonsense();
}

void IsolatedSlot::Discard() {
  shows_ = false;
  (void)Ask(Op::kDiscard);
}

void IsolatedSlot::Cancel() {
  waiter_.Cancel();
  if (!has_turn_.load(std::memory_order_acquire)) return;
  interruption_.Interrupt(connection_, number_, turn_.load(std::memory_order_acquire));
}

}  // namespace wasinn::isolation
