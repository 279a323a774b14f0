// What there is once in an OS process, however many copies of this library are open in it.
#pragma once

#include <atomic>
#include <functional>

#include "common/process_turn.h"

namespace wasinn::onnx {

// ONNX Runtime's environment, its allocator and its table of imports are there once for all who have it open. Two
// embedders in one program may each bring this backend as a file of their own, and the dynamic linker opens both: then
// each would undo what the other has set up, and its guests' limits would not hold. So the copies of one build find
// each other and share what they know of that (docs/decisions/0031).

// All builds of this backend have the same turn.
class TurnOfCopies {
 public:
  // Where there is no /proc, copies that are opened at the same moment are not kept apart.
  TurnOfCopies() { turn_.Take("/proc/self/task"); }

 private:
  backend::ProcessTurn turn_;
};

// Tells where `place`, an address in this library, is in each other copy of the same build.
void ForEachCopy(const void* place, const std::function<void(const void* place)>& tell);

// A T that the first copy makes which asks for it. It stays for ever. For static objects alone: a copy finds it at the
// same place in another one.
template <typename T>
class LoadedLibrary {
 public:
  constexpr LoadedLibrary() = default;
  LoadedLibrary(const LoadedLibrary&) = delete;
  LoadedLibrary& operator=(const LoadedLibrary&) = delete;

  T& Get() {
    T* one = one_.load(std::memory_order_acquire);
    return one != nullptr ? *one : Find();
  }

 private:
  T& Find() {
    const TurnOfCopies turn;
    T* one = one_.load(std::memory_order_acquire);
    if (one != nullptr) return *one;
    ForEachCopy(this, [&one](const void* place) {
      T* const others = static_cast<const LoadedLibrary*>(place)->one_.load(std::memory_order_acquire);
      if (others != nullptr) one = others;
    });
    if (one == nullptr) one = new T;
    one_.store(one, std::memory_order_release);
    return *one;
  }

  std::atomic<T*> one_ = nullptr;
};

}  // namespace wasinn::onnx
