#include "onnx/load_heap.h"

#include <dlfcn.h>
#include <link.h>

#include <cerrno>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <string_view>

#include "onnx/call_scope.h"
#include "onnx/imports.h"
#include "onnx/one_of_process.h"

namespace wasinn::onnx {

namespace {

// Kernels also have vectors of their own, as large as their inputs. Smaller ones go by uncounted, and without a look at
// whose they are.
constexpr size_t kLargeVector = 1 << 20;

// y = x + ConstantOfShape([kProbeElements]): the smallest model with something to fold.
constexpr size_t kProbeElements = 99'991;
constexpr size_t kProbeBytes = kProbeElements * sizeof(float);  // nothing else has this size
constexpr std::string_view kProbeModel(
    "\x08\x07:^\n\x17\n\x01s\x12\x01"
    "c\"\x0f"
    "ConstantOfShape\n\x0e\n\x01x\n\x01"
    "c\x12\x01y\"\x03"
    "Add\x12\x01g*\x0c\x08\x01\x10\x07:\x03\x97\x8d\x06"
    "B\x01sZ\x0f\n\x01x\x12\n\n\x08\x08\x01\x12\x04\n\x02\x08\x01"
    "b\x11\n\x01y\x12\x0c\n\n\x08\x01\x12\x06\n\x04\x08\x97\x8d\x06"
    "B\x04\n\x00\x10\x0d",
    104);

// The functions of the C and C++ libraries that ONNX Runtime's default allocator is made of (posix_memalign in older
// versions), and those of its vectors. Each is what the library called before.
std::atomic<int (*)(void**, size_t, size_t)> next_memalign = &posix_memalign;
std::atomic<void (*)(void*)> next_free = &std::free;
std::atomic<void* (*)(size_t, std::align_val_t)> next_aligned_new = &::operator new;
std::atomic<void (*)(void*, std::align_val_t)> next_aligned_delete = &::operator delete;
std::atomic<void (*)(void*, size_t, std::align_val_t)> next_sized_aligned_delete = &::operator delete;
std::atomic<void* (*)(size_t)> next_new = &::operator new;
std::atomic<void (*)(void*, size_t)> next_delete = &::operator delete;

// Set while a thread looks where the allocator that folding uses asks from. Other callers are left alone: a NULL might
// be none that they look at.
thread_local const void** site_of_probe = nullptr;

LoadHeap* Current() {
  const CallScope::Subject* scope = CallScope::Current();
  return scope != nullptr ? scope->heap : nullptr;
}

// The heap that a request is charged to; NULL: none.
LoadHeap* HeapOf(const void* site, size_t bytes) {
  if (site_of_probe != nullptr && bytes >= kProbeBytes && bytes < kProbeBytes + kProbeBytes / 8) *site_of_probe = site;
  LoadHeap* heap = Current();
  return heap != nullptr && heap->site() == site ? heap : nullptr;
}

int Memalign(void** block, size_t alignment, size_t bytes) noexcept {
  LoadHeap* heap = HeapOf(__builtin_return_address(0), bytes);
  if (heap != nullptr && !heap->Charge(bytes)) return ENOMEM;
  const int error = next_memalign.load(std::memory_order_relaxed)(block, alignment, bytes);
  if (heap != nullptr) heap->Note(error == 0 ? *block : nullptr, bytes);
  return error;
}

void Free(void* block) noexcept {
  if (LoadHeap* heap = Current(); heap != nullptr) heap->Forget(block);
  next_free.load(std::memory_order_relaxed)(block);
}

void* AlignedNew(size_t bytes, std::align_val_t alignment) {
  LoadHeap* heap = HeapOf(__builtin_return_address(0), bytes);
  if (heap != nullptr && !heap->Charge(bytes)) throw OverBudget();
  void* block = next_aligned_new.load(std::memory_order_relaxed)(bytes, alignment);
  if (heap != nullptr) heap->Note(block, bytes);
  return block;
}

void AlignedDelete(void* block, std::align_val_t alignment) noexcept {
  if (LoadHeap* heap = Current(); heap != nullptr) heap->Forget(block);
  next_aligned_delete.load(std::memory_order_relaxed)(block, alignment);
}

void SizedAlignedDelete(void* block, size_t bytes, std::align_val_t alignment) noexcept {
  if (LoadHeap* heap = Current(); heap != nullptr) heap->Forget(block);
  next_sized_aligned_delete.load(std::memory_order_relaxed)(block, bytes, alignment);
}

void* New(size_t bytes) {
  LoadHeap* heap = bytes < kLargeVector ? nullptr : Current();
  if (heap != nullptr && !heap->ChargeUncancelled(bytes)) throw OverBudget();
  void* block = next_new.load(std::memory_order_relaxed)(bytes);
  if (heap != nullptr) heap->Note(block, bytes);
  return block;
}

void Delete(void* block, size_t bytes) noexcept {
  LoadHeap* heap = bytes < kLargeVector ? nullptr : Current();
  if (heap != nullptr) heap->Forget(block);
  next_delete.load(std::memory_order_relaxed)(block, bytes);
}

// Not every library imports each.
template <typename Function>
void Replace(const void* library, const char* name, Function* replacement, std::atomic<Function*>* next) {
  void* before = ReplaceImport(library, name, reinterpret_cast<void*>(replacement));
  if (before != nullptr) next->store(reinterpret_cast<Function*>(before), std::memory_order_relaxed);
}

void ReplaceAll(const void* library) {
  Replace<int(void**, size_t, size_t)>(library, "posix_memalign", Memalign, &next_memalign);
  Replace<void(void*)>(library, "free", Free, &next_free);
  Replace<void*(size_t, std::align_val_t)>(library, "_ZnwmSt11align_val_t", AlignedNew, &next_aligned_new);
  Replace<void(void*, std::align_val_t)>(library, "_ZdlPvSt11align_val_t", AlignedDelete, &next_aligned_delete);
  Replace<void(void*, size_t, std::align_val_t)>(library, "_ZdlPvmSt11align_val_t", SizedAlignedDelete,
                                                 &next_sized_aligned_delete);
  Replace<void*(size_t)>(library, "_Znwm", New, &next_new);
  Replace<void(void*, size_t)>(library, "_ZdlPvm", Delete, &next_delete);
}

// Whether the function is of an ONNX backend. (It is none of this build's, which would know.)
bool IsOfBackend(const void* function) {
  Dl_info its = {}, query = {};
  link_map* library = nullptr;
  if (dladdr1(function, &its, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) == 0) return false;
  void* handle = dlopen(library->l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  // May be found in what the library needs, too.
  const void* symbol = dlsym(handle, "wasinn_backend_query");
  const bool found = symbol != nullptr && dladdr(symbol, &query) != 0 && query.dli_fbase == its.dli_fbase;
  dlclose(handle);
  return found;
}

// False: another build of this backend did it before.
bool ReplaceAllOnce(const OrtLibrary& library) {
  const auto* const address = reinterpret_cast<const void*>(library.api().CreateSession);
  const TurnOfCopies turn;
  // All import these two.
  for (const char* name : {"free", "_Znwm"}) {
    if (const void* import = ImportOf(address, name); import != nullptr && IsOfBackend(import)) return false;
  }
  ReplaceAll(address);
  return true;
}

// Loads the model and sees where its constant comes from.
const void* Probe(const OrtLibrary& library, OrtEnv* env) {
  const OrtApi& api = library.api();
  OrtSessionOptions* raw = nullptr;
  library.Check(api.CreateSessionOptions(&raw), "session options");
  const OrtPtr<OrtSessionOptions> options(raw, api.ReleaseSessionOptions);
  library.Check(api.SetIntraOpNumThreads(raw, 1), "threads");
  library.Check(api.SetSessionGraphOptimizationLevel(raw, ORT_ENABLE_BASIC), "optimization");
  const void* site = nullptr;
  site_of_probe = &site;
  OrtSession* session = nullptr;
  OrtStatus* status = api.CreateSessionFromArray(env, kProbeModel.data(), kProbeModel.size(), raw, &session);
  site_of_probe = nullptr;
  api.ReleaseSession(session);
  const bool loaded = status == nullptr;
  api.ReleaseStatus(status);
  return loaded ? site : nullptr;
}

// What is replaced in a library stays so for the OS process, as the library stays open, and serves all hosts.
struct HeapsOfProcess {
  struct Library {
    bool ours = false;
    bool probed = false;
    const void* site = nullptr;
  };

  Library& Of(const OrtLibrary& library) {
    const auto [found, is_new] = libraries.try_emplace(&library.api());
    if (is_new) found->second.ours = ReplaceAllOnce(library);
    return found->second;
  }

  std::mutex mutex;
  std::map<const OrtApi*, Library> libraries;
};
constinit OneOfProcess<HeapsOfProcess> heaps_of_process;

}  // namespace

bool LoadHeap::Watch(const OrtLibrary& library) {
  HeapsOfProcess& process = heaps_of_process.Get();
  const std::lock_guard lock(process.mutex);
  return process.Of(library).ours;
}

const void* LoadHeap::SiteOf(const OrtLibrary& library, OrtEnv* env) {
  HeapsOfProcess& process = heaps_of_process.Get();
  const std::lock_guard lock(process.mutex);
  HeapsOfProcess::Library& found = process.Of(library);
  if (found.ours && !found.probed) {
    found.site = Probe(library, env);
    found.probed = true;
  }
  return found.site;
}

bool LoadHeap::Charge(size_t bytes) { return !cancelled_.load(std::memory_order_relaxed) && ChargeUncancelled(bytes); }

bool LoadHeap::ChargeUncancelled(size_t bytes) { return budget_->TryCharge(bytes); }

void LoadHeap::Note(void* block, size_t bytes) noexcept {
  if (block == nullptr) return budget_->Refund(bytes);
  try {
    // A block that was given back where we do not see it is there no more.
    const auto [entry, is_new] = blocks_.try_emplace(block, bytes);
    if (is_new) return;
    budget_->Refund(entry->second);
    entry->second = bytes;
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): it stays charged to the end of the load
  }
}

void LoadHeap::Forget(void* block) {
  const auto entry = blocks_.find(block);
  if (entry == blocks_.end()) return;
  budget_->Refund(entry->second);
  blocks_.erase(entry);
}

}  // namespace wasinn::onnx
