#include "serve/openai/foreign_fields.h"

#include <algorithm>

#include "serve/openai/fields.h"

namespace wasinn::serve::openai {
namespace {

using simdjson::dom::element;

// Fields about where and when a request is served, billing, reports and storage.
constexpr std::string_view kOfTheWay[] = {
    // vLLM, SGLang, TGI
    "priority", "request_id", "rid", "cache_salt", "kv_transfer_params", "vllm_xargs", "mm_processor_kwargs",
    "return_token_ids", "return_tokens_as_token_ids", "details", "decoder_input_details", "stream_interval",
    "session_params",
    // Ollama, LM Studio
    "keep_alive", "ttl", "draft_model", "num_gpu", "num_thread", "num_batch", "use_mmap", "use_mlock", "low_vram",
    "main_gpu",
    // OpenRouter
    "provider", "models", "route", "usage", "include_reasoning", "session_id", "trace", "debug",
    // LiteLLM and other proxies, and clients that send what is for themselves
    "timeout", "request_timeout", "stream_timeout", "num_retries", "max_retries", "fallbacks", "tags", "cache",
    "caching", "drop_params", "allowed_openai_params", "additional_drop_params", "api_base", "base_url", "api_version",
    "custom_llm_provider", "extra_headers", "litellm_metadata", "headers", "client_metadata"};

// Fields that change the answer, unless they have this value, or are false, or a text, list or object of nothing.
struct Usual {
  std::string_view name;
  double value = 0;
};
constexpr Usual kUsual[] = {
    // vLLM
    {"min_tokens"},
    {"length_penalty", 1},
    {"use_beam_search"},
    {"early_stopping"},
    {"skip_special_tokens", 1},
    {"spaces_between_special_tokens", 1},
    {"include_stop_str_in_output"},
    {"truncate_prompt_tokens"},
    {"prompt_logprobs"},
    {"allowed_token_ids"},
    {"bad_words"},
    {"logits_processors"},
    {"add_special_tokens"},
    {"documents"},
    {"chat_template"},
    {"guided_regex"},
    {"guided_choice"},
    {"guided_grammar"},
    {"guided_decoding_backend"},
    {"guided_whitespace_pattern"},
    {"structured_outputs"},
    {"regex"},
    {"ebnf"},
    {"thinking_token_budget"},
    {"repetition_detection"},
    // Ollama
    {"options"},
    {"raw"},
    {"template"},
    {"system"},
    {"images"},
    {"context"},
    {"num_ctx"},
    {"num_keep"},
    {"penalize_newline"},
    // OpenRouter
    {"top_a"},
    {"transforms"},
    {"plugins"},
    {"preset"},
    // TGI, text-generation-webui, KoboldCpp, Together, Mistral, Anthropic
    {"do_sample", 1},
    {"watermark"},
    {"return_full_text"},
    {"truncate"},
    {"adapter_id"},
    {"no_repeat_ngram_size"},
    {"penalty_alpha"},
    {"epsilon_cutoff"},
    {"eta_cutoff"},
    {"tfs", 1},
    {"tfs_z", 1},
    {"smoothing_factor"},
    {"encoder_repetition_penalty", 1},
    {"guidance_scale", 1},
    {"negative_prompt"},
    {"safe_prompt"},
    {"prompt_mode"},
    {"safety_model"},
    {"context_length_exceeded_behavior"},
    {"num_beams", 1},
    {"ban_eos_token"},
    {"custom_token_bans"},
    {"auto_max_new_tokens"},
    {"temperature_last"},
    {"dynamic_temperature"},
    {"prompt_template"},
    {"custom_params"}};

bool Is(element value, double usual) {
  bool flag = false;
  double number = 0;
  if (value.get_bool().get(flag) == simdjson::SUCCESS) return flag == (usual != 0);
  if (value.get_double().get(number) == simdjson::SUCCESS) return number == usual;
  return IsNothing(value);
}

}  // namespace

Foreign ForeignField(std::string_view name, element value) {
  if (std::ranges::find(kOfTheWay, name) != std::end(kOfTheWay)) return Foreign::kMoot;
  const auto* usual = std::ranges::find(kUsual, name, &Usual::name);
  if (usual == std::end(kUsual)) return Foreign::kUnknown;
  return Is(value, usual->value) ? Foreign::kMoot : Foreign::kUnsupported;
}

}  // namespace wasinn::serve::openai
