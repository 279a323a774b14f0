// A model's inputs and outputs as the command shows them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>
#include <wasinn/wasinn.hpp>

namespace wasinn::cli {

// "f32", or the framework's own word.
std::string TypeOf(const Io& io);
// "[1, 3, ?, ?]"; "[]" is a scalar, "?" any shape.
std::string ShapeOf(const Io& io);
std::string NotesOf(const Io& io);
// "image f32 [?, 1, 8, 8]", with commas between several.
std::string LineOf(const std::vector<Io>& ios);

// As guests have it from `describe`: -1 is a dim that may be anything, null the shape of unknown rank.
nlohmann::ordered_json IosToJson(const std::vector<Io>& ios);
// A name that is not UTF-8 is the model's, and no reason to fail.
std::string Dump(const nlohmann::ordered_json& json);

// The version that a guest gets for `name`: the one asked for, else the highest.
std::optional<ModelInfo> FindModel(const Host& host, const std::string& name);

// ": mel, embedding" of a pipeline.
std::string StepsOf(const ModelInfo& info);

}  // namespace wasinn::cli
