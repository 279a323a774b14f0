#include "llama/media_request.h"

#include <fmt/ranges.h>
#include <sys/random.h>

#include <array>
#include <charconv>

#include "base/json.h"
#include "common/json.h"
#include "common/throw.h"
#include "llama/chat.h"

namespace wasinn::llama {

using backend::Error;
using backend::Throw;
using nlohmann::ordered_json;

namespace {

constexpr size_t kLongString = 1024, kMaxBytes = size_t{256} << 20;

[[noreturn]] void RefuseMessages() {
  throw Error(WASINN_ERROR_INVALID_ARGUMENT,
              R"(with "chat" the prompt is a JSON array of messages: [{"role": "user", "content": "…"}])");
}

// The payload of "data:image/png;base64,…". `kind`: "image" or "audio".
std::string_view Payload(std::string_view url, std::string_view kind) {
  constexpr std::string_view kScheme = "data:", kBase64 = ";base64";
  if (!url.starts_with(kScheme)) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT,
          "image_url: expected data:image/…;base64,…: nothing is fetched from the network or from files");
  }
  const size_t comma = url.find(',');
  const std::string_view head =
      url.substr(kScheme.size(), comma == std::string_view::npos ? 0 : comma - kScheme.size());
  const std::string_view type = head.substr(0, head.find(';'));
  if (!head.ends_with(kBase64) || !(type.empty() || type.starts_with(kind))) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "a data: URL: expected data:{}/…;base64,…", kind);
  }
  return url.substr(comma + 1);
}

std::string NewMarker() {
  std::array<uint64_t, 2> random = {};
  if (getrandom(random.data(), sizeof(random), 0) != sizeof(random)) {
    Throw(WASINN_ERROR_RUNTIME, "no random numbers are available");
  }
  return fmt::format("<__media_{:016x}__>", fmt::join(random, ""));
}

// The end of a JSON string, from after its opening quote.
size_t EndOfString(std::string_view json, size_t at) {
  for (; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return std::min(at, json.size());
}

}  // namespace

// Images are long strings. They are replaced before the JSON is parsed, and only read in place.
class MediaMessages::Reader {
 public:
  // The replacement of a string has an unguessable marker: otherwise a short text could stand for megabytes, any number
  // of times.
  Reader(std::string_view json, MediaMessages* result) : result_(result), mark_("data:#" + result->marker_) {
    const std::string reduced = PutAside(json);
    if (reduced.size() > kMaxMessageBytes || !backend::OrderedJsonCheck::Passes(reduced, kDeepestMessages))
      RefuseMessages();
    json_ = ordered_json::parse(reduced);
  }

  void Read() {
    if (!json_.is_array()) RefuseMessages();
    for (ordered_json& message : json_) {
      if (!message.is_object() || !message.contains("content") || !message["content"].is_array()) continue;
      for (ordered_json& part : message["content"]) ReadPart(&part);
    }
  }

  std::string Text() {
    Restore(&json_);
    return json_.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }

 private:
  std::string PutAside(std::string_view json) {
    std::string reduced;
    for (size_t at = 0; at < json.size();) {
      const size_t quote = std::min(json.find('"', at), json.size());
      reduced += json.substr(at, quote - at);
      if (quote == json.size()) break;
      const size_t end = EndOfString(json, quote + 1);
      const std::string_view string = json.substr(quote + 1, end - quote - 1);
      const size_t next = json.find_first_not_of(" \t\r\n", end + 1);
      const bool is_name = next != std::string_view::npos && json[next] == ':';
      if (!is_name && (string.size() > kLongString || string.starts_with("data:"))) {
        reduced += fmt::format("\"{}{}\"", mark_, aside_.size());
        aside_.push_back(string);
      } else {
        reduced += json.substr(quote, end + 1 - quote);
      }
      at = std::min(end + 1, json.size());
    }
    return reduced;
  }

  // The replaced string; NULL: there is none.
  const std::string_view* Aside(const std::string& string) const {
    if (!string.starts_with(mark_)) return nullptr;
    size_t number = aside_.size();
    std::from_chars(string.data() + mark_.size(), string.data() + string.size(), number);
    return number < aside_.size() ? &aside_[number] : nullptr;
  }

  static std::string Unescaped(std::string_view string) {
    const auto json = base::ParseJson(fmt::format("\"{}\"", string));
    if (!json.is_string()) RefuseMessages();
    return json.get<std::string>();
  }

  std::string_view StringOf(const ordered_json& json) {
    if (!json.is_string()) RefuseMessages();
    const auto& string = json.get_ref<const std::string&>();
    const std::string_view* const aside = Aside(string);
    if (aside != nullptr && aside->find('\\') == std::string_view::npos) return *aside;
    return result_->kept_.emplace_back(aside == nullptr ? string : Unescaped(*aside));
  }

  void ReadPart(ordered_json* part) {
    if (!part->is_object() || !part->contains("type")) return;
    const ordered_json& type = (*part)["type"];
    const bool is_image = type == "image_url";
    if (!is_image && type != "input_audio") return;
    const char* const name = is_image ? "image_url" : "input_audio";
    if (!part->contains(name)) RefuseMessages();
    const ordered_json& value = (*part)[name];
    const char* const field = is_image ? "url" : "data";
    if (value.is_object() && !value.contains(field)) RefuseMessages();
    const std::string_view string = StringOf(value.is_object() ? value[field] : value);
    const bool is_url = is_image || string.starts_with("data:");
    result_->files_.push_back({.kind = is_image ? MediaPart::Kind::kImage : MediaPart::Kind::kSound,
                               .data = is_url ? Payload(string, is_image ? "image" : "audio") : string});
    *part = {{"type", "media_marker"}, {"text", result_->marker_}};
  }

  void Restore(ordered_json* json) const {
    if (json->is_string()) {
      const std::string_view* const aside = Aside(json->get_ref<const std::string&>());
      if (aside != nullptr) *json = Unescaped(*aside);
    } else if (json->is_structured()) {
      for (ordered_json& value : *json) Restore(&value);
    }
  }

  MediaMessages* const result_;
  const std::string mark_;
  std::vector<std::string_view> aside_;
  ordered_json json_;
};

std::optional<MediaMessages> MediaMessages::Take(std::string_view messages) {
  const bool may_have =
      messages.find("image_url") != std::string_view::npos || messages.find("input_audio") != std::string_view::npos;
  if (!may_have) return std::nullopt;
  if (messages.size() > kMaxBytes) {
    Throw(WASINN_ERROR_TOO_LARGE, "messages of {} bytes: at most {} are accepted", messages.size(), kMaxBytes);
  }
  MediaMessages result;
  result.marker_ = NewMarker();
  Reader reader(messages, &result);
  reader.Read();
  if (result.files_.empty()) return std::nullopt;
  result.text_ = reader.Text();
  return result;
}

std::vector<MediaPart> MediaMessages::Split(std::string_view prompt) const {
  std::vector<MediaPart> parts;
  size_t found = 0;
  for (;;) {
    const size_t at = std::min(prompt.find(marker_), prompt.size());
    parts.push_back({.kind = MediaPart::Kind::kText, .data = prompt.substr(0, at)});
    if (at == prompt.size()) break;
    if (found < files_.size()) parts.push_back(files_[found]);
    ++found;
    prompt.remove_prefix(at + marker_.size());
  }
  if (found == files_.size()) return parts;
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "the chat template writes {} images and sounds, but the messages have {}", found,
        files_.size());
}

namespace {

struct Tag {
  std::string_view begin, type;
  MediaPart::Kind kind;
};
constexpr Tag kTags[] = {{R"(<img src="data:)", "image", MediaPart::Kind::kImage},
                         {R"(<audio src="data:)", "audio", MediaPart::Kind::kSound}};

// The end of a tag, from after the closing quote. npos: not a tag.
size_t EndOfTag(std::string_view prompt, size_t quote) {
  if (quote == std::string_view::npos) return quote;
  const size_t at = prompt.find_first_not_of(" /", quote + 1);
  return at != std::string_view::npos && prompt[at] == '>' ? at + 1 : std::string_view::npos;
}

}  // namespace

std::vector<MediaPart> SplitAtTags(std::string_view prompt) {
  std::vector<MediaPart> parts;
  size_t text = 0;
  for (size_t at = prompt.find('<'); at != std::string_view::npos; at = prompt.find('<', at)) {
    const auto* const tag =
        std::ranges::find_if(kTags, [&](const Tag& one) { return prompt.substr(at).starts_with(one.begin); });
    const size_t url = tag == std::end(kTags) ? at : at + tag->begin.size() - std::string_view("data:").size();
    const size_t quote = tag == std::end(kTags) ? std::string_view::npos : prompt.find('"', url);
    const size_t end = EndOfTag(prompt, quote);
    if (end == std::string_view::npos) {
      ++at;
      continue;
    }
    parts.push_back({.kind = MediaPart::Kind::kText, .data = prompt.substr(text, at - text)});
    parts.push_back({.kind = tag->kind, .data = Payload(prompt.substr(url, quote - url), tag->type)});
    text = at = end;
  }
  parts.push_back({.kind = MediaPart::Kind::kText, .data = prompt.substr(text)});
  return parts;
}

}  // namespace wasinn::llama
