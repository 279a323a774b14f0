// Which delegate has taken what of a model.
#pragma once

#include <tensorflow/lite/c/common.h>

#include <set>

namespace wasinn::tflite {

// A delegate that takes nothing itself, and looks as it is asked. It stays where it is until its interpreter has gone.
class Observer {
 public:
  Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  TfLiteDelegate* get() { return &delegate_.known; }
  // Whether a delegate that came before has taken anything; NULL: whether they left anything.
  bool Saw(const TfLiteDelegate* delegate) const { return seen_.contains(delegate); }

 private:
  static TfLiteStatus Look(TfLiteContext* context, TfLiteDelegate* self);

  // The library's structure has grown since the headers at hand: there must be zeros behind it.
  struct {
    TfLiteDelegate known;
    void* unknown[16];
  } delegate_ = {};
  std::set<const TfLiteDelegate*> seen_;
};

}  // namespace wasinn::tflite
