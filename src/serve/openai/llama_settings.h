// What a text was asked for, in the words of llama.cpp's server.
#pragma once

#include <nlohmann/json.hpp>

namespace wasinn::serve::openai {

// `generation_settings`, of what the model's output `generation` tells as `settings`.
nlohmann::json ToLlamaSettings(const nlohmann::json& settings, bool is_stream);

}  // namespace wasinn::serve::openai
