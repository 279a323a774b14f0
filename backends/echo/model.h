// An echo "model": a text that says how the backend shall behave, one directive a line after the magic "GGUF":
//  - in NAME DTYPE DIMS [optional] [opaque] [unservable] [any_name] [bindable]: an input, and the output of the same
//    signature.
//    DIMS is like 2,3 or -1,4, or "scalar" or "any"; with `always`: the output is there before a compute, and shows the
//    guest's configuration
//  - delay MS: a compute takes so long; it can be cancelled
//  - gate PATH: a compute makes the file PATH.reached and waits until there is a file PATH; it can be cancelled
//  - gated BYTE: only a compute whose inputs have such a byte waits there, or with `pieces` the step that reaches it
//  - cancel_gate PATH: a cancel of a compute waits there, though none may block
//  - load_gate PATH: a load waits there, unload_gate PATH: an unload, context_gate PATH: the creation of a context,
//    which can be cancelled, too, free_gate PATH: the freeing of one; the backend's own key "gate" is for its open
//  - turns N: at most N computes run at once, 0: the host decides; any number, if this is missing
//  - deaf: neither a compute nor a load nor the making of a context can be cancelled
//  - deadly BYTE: a compute ends the OS process at once if an input has such a byte
//  - dies WHERE: a load, compute or unload ends the OS process
//  - fail CODE: a compute ends in the error of that number
//  - poison BYTE: a compute ends in an error if an input has such a byte
//  - endless BYTE: a compute does not end by itself if an input has such a byte, or with `pieces` the step that reaches
//    it
//  - load_delay MS: a load takes that long; it can be cancelled
//  - fail_load CODE: a load ends in the error of that number
//  - takes BYTES: a compute allocates that many for each byte of its inputs, if it may
//  - stateful: it reports that it is
//  - late: the outputs are known only after a compute
//  - opaque_outputs: they are no tensors of numbers
//  - pieces BYTES: generates its outputs in pieces of that many bytes of the inputs, each in the time of `delay`. After
//    a cancel the finished pieces stay
//  - room BYTES: the context is full after that many
//  - outgrows BYTES: outputs have that many, whatever their signature says
//  - untakeable: take_output fails
//  - memory NAME: it is computed by a device that has memory of that name, where kept outputs stay; strays: so do all
//    others
//  - shares: contexts may share slots
//  - wears: a slot cannot be reset
//  - leaves: a compute writes nothing to outputs that are bound
//  - says WORD: a load writes it as a warning, and as its message if it fails
//  - keeps BYTES: each context keeps that many besides its tensors
//  - records PATH: a compute appends a line to that file, with the shapes of its inputs, and whether all bytes are
//    zeros
//  - load_keeps BYTES: the model keeps that many
//  - async WORD: compute_async ends "later", on a thread of its own; or "twice" there; or it is "refused". Else it ends
//    before it returns
#pragma once

#include <wasinn/backend.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/reservation.h"

namespace wasinn::echo {

struct Io {
  std::string name;
  std::vector<int64_t> dims;
  wasinn_io io{};
};

// Lasting memory of a context or a model, charged before it is allocated. Whole pages of it are written, so that it
// counts.
struct Kept {
  backend::Reservation reservation;
  std::vector<uint8_t> bytes;

  void Resize(size_t size) {
    reservation.Resize(size);
    bytes.assign(size, 1);
  }
};

}  // namespace wasinn::echo

struct wasinn_backend_graph {
  wasinn_backend_state* backend = nullptr;
  std::vector<std::unique_ptr<wasinn::echo::Io>> ios;
  std::vector<const wasinn_io*> pointers;
  std::vector<wasinn_io> late_ios;
  std::vector<const wasinn_io*> late_pointers;
  wasinn_info info{};
  int delay_ms = 0, fail = 0, load_delay_ms = 0, fail_load = 0;
  size_t piece = 0, room = SIZE_MAX, keeps = 0, load_keeps = 0, outgrows = 0, takes = 0;
  int poison = -1, deadly = -1, endless = -1, gated = -1;
  uint32_t turns = UINT32_MAX;
  bool deaf = false, late = false, opaque_outputs = false, untakeable = false, leaves = false, shares = false,
       wears = false, stateful = false;
  bool strays = false;
  std::string memory, dies, description, gate, load_gate, unload_gate, context_gate, free_gate, cancel_gate, says,
      records, async;
  wasinn::echo::Kept kept;
};

namespace wasinn::echo {

// Reads the directives into `model`.
void ReadModel(wasinn_backend_graph& model, std::string_view text);

}  // namespace wasinn::echo
