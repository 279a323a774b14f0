#include "serve/threads/completion.h"

#include <limits>
#include <new>
#include <utility>
#include <vector>

namespace wasinn::serve {
namespace {

// Inputs that are dropped unless taken.
class Inputs {
 public:
  explicit Inputs(wasinn_guest* guest) : guest_(guest) {}
  ~Inputs() {
    for (const wasinn_wit_named_tensor& input : inputs_) {
      wasinn_status_free(wasinn_wit()->tensor_drop(guest_, input.tensor));
    }
  }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;

  void Add(std::string_view name, const std::string& text) {
    if (text.size() > std::numeric_limits<uint32_t>::max()) {
      Throw(WASINN_ERROR_TOO_LARGE, "a prompt must have less than 4 GiB");
    }
    const auto size = static_cast<uint32_t>(text.size());
    const auto* const bytes = reinterpret_cast<const uint8_t*>(text.data());
    inputs_.reserve(inputs_.size() + 1);
    uint32_t tensor = 0;
    OrThrow(
        wasinn_wit()->tensor_new(guest_, &size, 1, FindDatatype(WASINN_DTYPE_U8)->wit, bytes, text.size(), &tensor));
    inputs_.push_back({name.data(), name.size(), tensor});
  }
  // The caller owns the tensors from here on.
  std::vector<wasinn_wit_named_tensor> Take() { return std::exchange(inputs_, {}); }

 private:
  wasinn_guest* const guest_;
  std::vector<wasinn_wit_named_tensor> inputs_;
};

}  // namespace

Completion::Completion(const std::shared_ptr<Guest>& guest, std::shared_ptr<ModelContexts> contexts, uint32_t context,
                       Cancellation* cancellation, std::shared_ptr<const void> model)
    : model_(std::move(model)),
      guest_(guest->get()),
      cancellation_(cancellation),
      context_(guest, std::move(contexts), context) {
  stop_.emplace(cancellation, [this] { context_.Drop(); });
}

Completion::~Completion() {
  stop_.reset();  // a cancel no longer drops it
  const bool is_cancelled = cancellation_ != nullptr && cancellation_->is_cancelled();
  if (!has_ended_ || is_cancelled || !goes_on_) return;
  try {
    context_.KeepWith(std::move(beginning_));
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): it is dropped
  }
}

template <typename Call>
auto Completion::UnlessGone(const Call& call) const try {
  return call();
} catch (const Failure&) {
  if (cancellation_ != nullptr && cancellation_->is_cancelled()) throw ClientGone();
  throw;
}

void Completion::Start(const Prompt& prompt) {
  Inputs inputs(guest_);
  inputs.Add("prompt", prompt.prompt);
  inputs.Add("options", prompt.options);
  wasinn_wit_result result = {};
  const std::vector<wasinn_wit_named_tensor> taken = inputs.Take();
  wasinn_status* status = wasinn_wit()->context_start(guest_, context_.get(), taken.data(), taken.size(), &result);
  (void)RepOrThrow(guest_, status, result);
}

void Completion::Begin(const Prompt& prompt) {
  UnlessGone([&] {
    Start(prompt);
    first_ = Step();
  });
  goes_on_ = prompt.goes_on;
  if (goes_on_) beginning_ = ModelContexts::BeginningOf(prompt.prompt);
}

std::optional<std::string> Completion::Next() {
  if (!std::exchange(has_begun_, true)) return std::exchange(first_, std::nullopt);
  return UnlessGone([this] { return Step(); });
}

std::optional<std::string> Completion::Step() {
  wasinn_wit_result result = {};
  wasinn_wit_view view = {};
  uint32_t has_piece = 0;
  wasinn_status* status = wasinn_wit()->context_next(guest_, context_.get(), &result, &has_piece, &view);
  const View piece(view);
  const auto stepped = Try([&] { return RepOrThrow(guest_, status, result); });
  const bool is_full = !stepped && stepped.error().code == WASINN_ERROR_CONTEXT_FULL;  // the text ends here
  if (!stepped && !is_full) throw stepped.error();
  if (is_full || has_piece == 0) {
    has_ended_ = true;
    return std::nullopt;
  }
  const std::span<const char> text = piece.of<char>();
  return std::string(text.begin(), text.end());
}

std::string Completion::Output(std::string_view name) {
  const wasinn_wit_functions& wit = *wasinn_wit();
  wasinn_wit_result result = {};
  wasinn_status* status = wit.context_get_output(guest_, context_.get(), name.data(), name.size(), &result);
  const uint32_t tensor = UnlessGone([&] { return RepOrThrow(guest_, status, result); });
  wasinn_wit_view view = {};
  wasinn_status* const shown = wit.tensor_data(guest_, tensor, &view);
  const View data(view);
  wasinn_status_free(wit.tensor_drop(guest_, tensor));  // the view keeps its memory
  OrThrow(shown);
  const std::span<const char> text = data.of<char>();
  return std::string(text.begin(), text.end());
}

}  // namespace wasinn::serve
