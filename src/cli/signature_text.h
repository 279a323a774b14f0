// A model's inputs and outputs as text.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>
#include <wasinn/wasinn.hpp>

namespace wasinn::cli {

// "f32", or the framework's own name of the type.
std::string TypeOf(const Io& io);
// "[1, 3, ?, ?]"; "[]" is a scalar, "?" any shape.
std::string ShapeOf(const Io& io);
// Strings, or a text of any length.
bool IsText(const Io& io);
std::string NotesOf(const Io& io);
// "image f32 [?, 1, 8, 8]", with commas between several.
std::string LineOf(const std::vector<Io>& ios);

// As in `describe` for guests: -1 is an open dim, null the shape of unknown rank.
nlohmann::ordered_json IosToJson(const std::vector<Io>& ios);
// Replaces invalid UTF-8: a model's name is no reason to fail.
std::string Dump(const nlohmann::ordered_json& json);

// The version that a guest gets for `name`: the given one, else the highest.
std::optional<ModelInfo> FindModel(const Host& host, const std::string& name);

// ": mel, embedding" for a pipeline.
std::string StepsOf(const ModelInfo& info);

}  // namespace wasinn::cli
