#include "settings/model_flags.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/number.h"
#include "engines/read_file.h"
#include "settings/text.h"

namespace wasinn::settings {
namespace {

Parsed<void> SetEncoding(const std::string& word, ModelFlag* model) {
  if (word.empty()) return std::unexpected("an encoding has no name");
  model->encoding = word;
  return {};
}

Parsed<void> SetTarget(const std::string& word, ModelFlag* model) {
  const Status status(wasinn_target_parse(word.c_str(), &model->target));
  if (!status.ok()) return std::unexpected(status.message());
  return {};
}

Parsed<void> SetVersion(const std::string& word, ModelFlag* model) {
  model->version = base::ParseNumber<uint32_t>(word).value_or(0);
  if (model->version > 0) return {};
  return std::unexpected(fmt::format("'{}' is not a version, which is a number from 1", word));
}

Parsed<void> SetIsolate(const std::string& word, ModelFlag* model) {
  if (word != "true" && word != "false") return std::unexpected(fmt::format("'{}' is not true or false", word));
  model->isolate = word == "true";
  return {};
}

struct Key {
  std::string_view name;
  Parsed<void> (*set)(const std::string&, ModelFlag*);
};
constexpr Key kKeys[] = {
    {"encoding", SetEncoding}, {"target", SetTarget}, {"version", SetVersion}, {"isolate", SetIsolate}};

// One ",key=value" of --model.
Parsed<void> SetKey(std::string_view item, ModelFlag* model) {
  const size_t equals = item.find('=');
  for (const Key& key : kKeys) {
    if (item.substr(0, equals) == key.name) return key.set(std::string(item.substr(equals + 1)), model);
  }
  return std::unexpected(
      fmt::format("unknown '{}': known are encoding, target, version and isolate", item.substr(0, equals)));
}

}  // namespace

Parsed<ModelFlag> ParseModelFlag(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0 || equals + 1 == text.size()) {
    std::error_code ignored;
    const bool is_path = std::filesystem::exists(text, ignored);
    const std::string name = std::filesystem::path(LastComponent(std::string(text))).stem().string();
    return std::unexpected(
        fmt::format("'{}' is not NAME=PATH{}", text, is_path ? fmt::format(", such as {}={}", name, text) : ""));
  }
  ModelFlag model;
  model.name = text.substr(0, equals);
  std::string_view path = text.substr(equals + 1);
  // From the right, so that a path may contain commas.
  for (size_t comma; (comma = path.rfind(',')) != path.npos && path.find('=', comma) != path.npos;) {
    if (Parsed<void> set = SetKey(path.substr(comma + 1), &model); !set) return std::unexpected(set.error());
    path = path.substr(0, comma);
  }
  if (path.empty()) return std::unexpected(fmt::format("'{}' has no path", text));
  model.paths.emplace_back(path);
  return model;
}

Parsed<std::vector<ModelFlag>> ParseWasmtimeFlag(std::string_view text, std::vector<std::string>* grants) {
  constexpr std::string_view kGraph = "nn-graph=";
  std::vector<ModelFlag> models;
  for (const std::string& item : Split(text, ',')) {
    const std::string name = item.ends_with("=y") ? item.substr(0, item.size() - 2) : item;
    if (name == "nn" || name == "cli") continue;
    if (grants != nullptr && (name == "inherit-env" || name == "inherit-network" || name == "http")) {
      grants->push_back(name);
      continue;
    }
    if (!item.starts_with(kGraph)) {
      const char* const known = grants == nullptr ? "nn, cli" : "nn, cli, inherit-env, inherit-network, http";
      return std::unexpected(fmt::format("unknown '{}': known are {} and nn-graph=FORMAT::DIR", item, known));
    }
    const std::string value = item.substr(kGraph.size());
    const size_t colon = value.find(':');
    const size_t dir = colon == value.npos ? colon : value.find_first_not_of(':', colon);
    if (dir == value.npos || dir > colon + 2) {
      return std::unexpected(
          fmt::format("'{}' is not nn-graph=FORMAT::DIR, such as nn-graph=onnx::models/digits", item));
    }
    ModelFlag model;
    model.paths.push_back(value.substr(dir));
    model.name = LastComponent(model.paths[0]);
    if (Parsed<void> set = SetEncoding(value.substr(0, colon), &model); !set) return std::unexpected(set.error());
    models.push_back(std::move(model));
  }
  return models;
}

Parsed<ModelFlag> ParseWasmEdgeFlag(std::string_view text) {
  const std::vector<std::string> parts = Split(text, ':');
  if (parts.size() < 4 || parts[0].empty() || parts[3].empty()) {
    return std::unexpected(fmt::format("'{}' is not NAME:ENCODING:TARGET:PATH", text));
  }
  // An address contains colons, which would end paths.
  if (IsAddress(text)) return std::unexpected("an address is no path here: it needs --model, or the configuration");
  ModelFlag model;
  model.name = parts[0];
  if (Parsed<void> set = SetEncoding(parts[1], &model); !set) return std::unexpected(set.error());
  if (Parsed<void> set = SetTarget(parts[2], &model); !set) return std::unexpected(set.error());
  model.paths.assign(parts.begin() + 3, parts.end());
  return model;
}

Status AddModel(Host& host, const ModelFlag& model) {
  auto fail = [&model](std::string_view why) {
    return Status(wasinn_status_new(WASINN_ERROR_NOT_FOUND, fmt::format("model {}: {}", model.name, why).c_str()));
  };
  // Before the files: a word that is no encoding may belong to a flag that was misread.
  if (Status status = host.CheckEncoding(model.encoding); !status.ok()) {
    return Status(wasinn_status_new(status.code(), fmt::format("model {}: {}", model.name, status.message()).c_str()));
  }
  ModelOptions options;
  options.encoding = model.encoding;
  options.target = model.target;
  options.version = model.version;
  options.isolate = model.isolate;
  std::vector<std::string> contents;  // for the parts, until they are copied
  if (model.paths.size() == 1) {
    std::error_code error;
    if (!IsAddress(model.paths[0]) && !std::filesystem::exists(model.paths[0], error))
      return fail(fmt::format("{} does not exist{}", model.paths[0], AddressHint(model.paths[0])));
    options.path = model.paths[0];
  } else {
    for (const std::string& path : model.paths) {
      auto bytes = engines::ReadFile(path);
      if (!bytes) return fail(bytes.error());
      contents.push_back(std::move(*bytes));
    }
    for (const std::string& part : contents) {
      options.builders.push_back({reinterpret_cast<const uint8_t*>(part.data()), part.size()});
    }
  }
  return host.AddModel(model.name, options);
}

}  // namespace wasinn::settings
