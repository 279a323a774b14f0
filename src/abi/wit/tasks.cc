// Calls of wasi:nn whose work goes on while the guest does.
#include <memory>
#include <string>
#include <utility>

#include "abi/wit/call.h"
#include "core/host/guest_task.h"

using Task = wasinn::core::Guest::Task;

// The type that wit.h names: it keeps the guest valid until it is freed.
struct wasinn_wit_task {
  wasinn_wit_task(wasinn_guest& its_guest, const char* its_function, Task::Kind kind)
      : guest(wasinn_guest_retain(&its_guest)), function(its_function), task(nullptr) {
    task = Task::New(its_guest, kind);
  }

  struct Releaser {
    void operator()(wasinn_guest* retained) const { wasinn_guest_release(retained); }
  };
  const std::unique_ptr<wasinn_guest, Releaser> guest;
  const char* const function;
  wasinn::core::Guest::TaskOwner task;
};

namespace wasinn::abi {
namespace {

using core::Guest;
using core::Result;
using core::Status;

Task::Done From(wasinn_wit_done done) { return {done.notify, done.user}; }

// Makes a task in a call of its guest. `begin` gets it: its error is the task's result; what it throws is a trap.
template <typename Function>
wasinn_status* NewTask(wasinn_guest* guest, const char* function, Task::Kind kind, wasinn_wit_done done,
                       wasinn_wit_task** out, const Function& begin) {
  *out = nullptr;
  return WithGuest(guest, [&]() -> Status {
    auto task = std::make_unique<wasinn_wit_task>(*guest, function, kind);
    if (Status status = begin(*task->task); !status.ok()) task->task->Fail(std::move(status), From(done));
    *out = task.release();
    return Status();
  });
}

// `values`: a view of the outputs.
Status TakeOutputs(wasinn_guest& guest, Task& task, wasinn_wit_view& values) {
  core::ScratchMemory scratch;
  std::pmr::vector<Guest::Output> outputs(&scratch.resource);
  ASSIGN_OR_RETURN(auto names, task.TakeOutputs(outputs));
  values = ToView(guest, std::move(names), outputs);
  return Status();
}

struct Piece {
  explicit Piece(std::string its_text) : text(std::move(its_text)) {}
  const std::string text;
  wasinn_wit_piece piece{};
  std::shared_ptr<const core::Graph> graph;  // of the name
};

// `values`: a view of the piece, or an empty one at the end.
Status TakePiece(Task& task, wasinn_wit_view& values) {
  Result<core::Context*> context = task.Stepped();
  if (!context && context.error().code() == WASINN_ERROR_END_OF_SEQUENCE) return Status();
  if (!context) return std::move(context.error());
  ASSIGN_OR_RETURN(std::string text, PieceOf(**context));
  auto piece = std::make_unique<Piece>(std::move(text));
  piece->graph = (*context)->graph();
  const auto outputs = piece->graph->outputs();
  const std::string_view name = outputs.empty() ? std::string_view() : outputs.front()->name;
  piece->piece = {.name = name.data(),
                  .name_size = name.size(),
                  .data = reinterpret_cast<const uint8_t*>(piece->text.data()),
                  .size = piece->text.size()};
  const void* const data = &piece->piece;
  values = Keep(std::move(piece), data, 1);
  return Status();
}

}  // namespace

wasinn_status* TaskLoad(wasinn_guest* guest, const wasinn_bytes* builders, size_t count, uint32_t encoding,
                        uint32_t target, wasinn_wit_done done, wasinn_wit_task** task) {
  return NewTask(guest, "load", Task::Kind::kLoad, done, task, [&](Task& made) -> Status {
    ASSIGN_OR_RETURN(const char* const format, EncodingOf(encoding));
    ASSIGN_OR_RETURN(const ModelParts parts, PartsOf(*guest, {builders, count}, target));
    made.Load(parts.bytes, format, parts.target, From(done));
    return Status();
  });
}

wasinn_status* TaskLoadByName(wasinn_guest* guest, const char* name, size_t size, wasinn_wit_done done,
                              wasinn_wit_task** task) {
  return NewTask(guest, "load-by-name", Task::Kind::kLoad, done, task, [&](Task& made) {
    made.LoadByName({name, size}, From(done));
    return Status();
  });
}

wasinn_status* TaskCompute(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* inputs, size_t count,
                           uint32_t may_stay, wasinn_wit_done done, wasinn_wit_task** task) {
  return NewTask(guest, "compute", Task::Kind::kCompute, done, task, [&](Task& made) -> Status {
    Owned owned(*guest, {inputs, count});
    RETURN_IF_ERROR(owned.Take());
    made.Compute(context, owned.tensors(), owned.TakeCount(), may_stay != 0, From(done));
    return Status();
  });
}

wasinn_status* TaskGenerate(wasinn_guest* guest, uint32_t context, const wasinn_wit_named_tensor* inputs, size_t count,
                            wasinn_wit_task** task) {
  return NewTask(guest, "compute-stream", Task::Kind::kGeneration, {}, task, [&](Task& made) -> Status {
    Owned owned(*guest, {inputs, count});
    RETURN_IF_ERROR(owned.Take());
    made.Generate(context, owned.tensors(), owned.TakeCount());
    return Status();
  });
}

wasinn_status* TaskStep(wasinn_wit_task* task, wasinn_wit_done done) {
  return WithGuest(task->guest.get(), [&]() -> Status {
    if (task->task->kind() != Task::Kind::kGeneration || task->task->goes_on())
      return core::Error(WASINN_ERROR_INVALID_ARGUMENT, "this task cannot begin a step now");
    task->task->Step(From(done));
    return Status();
  });
}

wasinn_status* TaskTake(wasinn_wit_task* task, wasinn_wit_result* out, wasinn_wit_view* values) {
  wasinn_guest* const guest = task->guest.get();
  *values = {};
  if (task->task->goes_on())
    return Trap(core::Error(WASINN_ERROR_INVALID_ARGUMENT, "the task goes on: its end was not reported yet"));
  return WithResult(guest, task->function, *out, [&]() -> Status {
    switch (task->task->kind()) {
      case Task::Kind::kLoad: {
        ASSIGN_OR_RETURN(out->rep, task->task->TakeGraph());
        return Status();
      }
      case Task::Kind::kCompute:
        return TakeOutputs(*guest, *task->task, *values);
      case Task::Kind::kGeneration:
        return TakePiece(*task->task, *values);
      case Task::Kind::kStaged:  // only of core modules
        break;
    }
    return Status();
  });
}

void TaskFree(wasinn_wit_task* task) { delete task; }

}  // namespace wasinn::abi
