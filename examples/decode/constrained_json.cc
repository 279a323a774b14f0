// Generates a JSON object by the guest's own grammar: of the likeliest tokens it takes the first one that can continue
// the object.
//
//   constrained-json.wasm [--model NAME] [--n-predict N] PROMPT
//
// The program begins the object, and writes its end if it has none after N tokens.
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.h"
#include "decoder.h"

namespace {

constexpr size_t kTop = 256, kDeepest = 4;
constexpr char kBegin[] = "{\"";

// The beginning of an object. Its texts are in ASCII without escapes, because a token may be a part of another
// character; its numbers are digits, and a space comes only after a comma or a colon.
class Object {
 public:
  // Returns false if this text cannot continue it; then nothing has changed.
  bool Add(std::string_view text) {
    Object next = *this;
    for (const char c : text) {
      if (!next.AddOne(c)) return false;
    }
    *this = next;
    return !text.empty();
  }
  bool is_whole() const { return place_ == Place::kEnd; }

  // The shortest end.
  std::string Rest() const {
    std::string rest;
    if (place_ == Place::kBegin) rest = "{}";
    if (place_ == Place::kKey) rest = "\"\":0";
    if (place_ == Place::kKeyText) rest = "\":0";
    if (place_ == Place::kColon) rest = ":0";
    if (place_ == Place::kValue) rest = "0";
    if (place_ == Place::kText) rest = "\"";
    if (place_ == Place::kWord) rest = word_;
    for (size_t i = open_.size(); i-- > 0;) rest += open_[i] == '{' ? '}' : ']';
    return rest;
  }

 private:
  enum class Place {
    kBegin,
    kFirstKey,
    kKey,
    kKeyText,
    kColon,
    kFirstValue,
    kValue,
    kText,
    kNumber,
    kWord,
    kNext,
    kEnd
  };

  bool AddOne(char c) {
    const bool may_be_space = last_ == ',' || last_ == ':';
    last_ = c;
    if (c == ' ' && may_be_space && place_ != Place::kText && place_ != Place::kKeyText) return true;
    switch (place_) {
      case Place::kBegin:
        return c == '{' && Open(c);
      case Place::kFirstKey:
        return c == '}' ? Close(c) : Go(c == '"', Place::kKeyText);
      case Place::kKey:
        return Go(c == '"', Place::kKeyText);
      case Place::kKeyText:
        return c == '"' ? Go(true, Place::kColon) : c >= ' ' && c != '\\';
      case Place::kColon:
        return Go(c == ':', Place::kValue);
      case Place::kFirstValue:
        return c == ']' ? Close(c) : Begin(c);
      case Place::kValue:
        return Begin(c);
      case Place::kText:
        return c == '"' ? Go(true, Place::kNext) : c >= ' ' && c != '\\';
      case Place::kNumber:
        return c >= '0' && c <= '9' && !is_zero_ ? true : Continue(c);
      case Place::kWord:
        if (word_.front() != c) return false;
        word_.erase(0, 1);
        return !word_.empty() || Go(true, Place::kNext);
      case Place::kNext:
        return Continue(c);
      case Place::kEnd:
        return false;
    }
    return false;
  }
  bool Go(bool fits, Place place) {
    place_ = place;
    return fits;
  }
  bool Open(char c) {
    open_ += c;
    return Go(open_.size() <= kDeepest, c == '{' ? Place::kFirstKey : Place::kFirstValue);
  }
  bool Close(char c) {
    const bool fits = c == (open_.back() == '{' ? '}' : ']');
    open_.pop_back();
    return Go(fits, open_.empty() ? Place::kEnd : Place::kNext);
  }
  // At the beginning of a value.
  bool Begin(char c) {
    is_zero_ = c == '0';
    if (c == '"') return Go(true, Place::kText);
    if (c == '{' || c == '[') return Open(c);
    if (c >= '0' && c <= '9') return Go(true, Place::kNumber);
    word_ = c == 't' ? "rue" : c == 'f' ? "alse" : c == 'n' ? "ull" : "";
    return Go(!word_.empty(), Place::kWord);
  }
  // After the end of a value.
  bool Continue(char c) { return c == ',' ? Go(true, open_.back() == '{' ? Place::kKey : Place::kValue) : Close(c); }

  std::string open_, word_;
  Place place_ = Place::kBegin;
  bool is_zero_ = false;
  char last_ = 0;
};

// Texts of tokens, each requested once.
class Pieces {
 public:
  explicit Pieces(Decoder* decoder) : decoder_(decoder) {}
  bool Get(int32_t token, std::string_view* piece) {
    auto [found, is_new] = pieces_.try_emplace(token);
    if (is_new && !decoder_->TextOf({token}, &found->second)) return false;
    *piece = found->second;
    return true;
  }

 private:
  Decoder* const decoder_;
  std::map<int32_t, std::string> pieces_;
};

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, {{"model", "lm"}, {"n-predict", "60"}});
  if (!arguments.Check("constrained-json.wasm [--model NAME] [--n-predict N] PROMPT")) return 2;
  Decoder decoder;
  Pieces pieces(&decoder);
  Object object;
  object.Add(kBegin);
  Tokens text;
  std::string written;
  if (!decoder.Open(arguments.Text("model")) || !decoder.TokensOf(arguments.prompt() + kBegin, &text)) return 1;
  for (size_t n = arguments.Count("n-predict"); n > 0 && !object.is_whole(); --n) {
    std::vector<Choices> next;
    if (!decoder.Next({text}, kTop, &next)) return 1;
    const size_t before = written.size();
    for (const Choice& choice : next.front()) {
      std::string_view piece;
      if (!pieces.Get(choice.token, &piece)) return 1;
      if (!object.Add(piece)) continue;
      written += piece;
      text.push_back(choice.token);
      break;
    }
    if (written.size() == before) break;  // no token fits
  }
  std::printf("%s%s%s\n", kBegin, written.c_str(), object.Rest().c_str());
  std::fprintf(stderr, "  %zu bytes by the model, %zu by the program\n", written.size(),
               sizeof(kBegin) - 1 + object.Rest().size());
  return 0;
}
