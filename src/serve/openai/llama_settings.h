// The sampling settings of a text, in llama.cpp's names.
#pragma once

#include <nlohmann/json.hpp>

namespace wasinn::serve::openai {

// `generation_settings`, from `settings` in the model's output `generation`.
nlohmann::json ToLlamaSettings(const nlohmann::json& settings, bool is_stream);

}  // namespace wasinn::serve::openai
