// Chat templates of the two forms that are most in use.
#pragma once

namespace wasinn::test {

// ChatML, with tools as Hermes' and Qwen's models have them.
inline constexpr const char* kToolTemplate =
    R"({%- if tools -%}
{{- '<|im_start|>system\n<tools>' -}}
{%- for tool in tools -%}{{- '\n' + (tool | tojson) -}}{%- endfor -%}
{{- '\n</tools>\nAnswer with <tool_call>\n{"name": <name>, "arguments": <arguments>}\n</tool_call><|im_end|>\n' -}}
{%- endif -%}
{%- for message in messages -%}
{%- if message.role == 'tool' -%}
{{- '<|im_start|>user\n<tool_response>\n' + message.content + '\n</tool_response><|im_end|>\n' -}}
{%- else -%}
{{- '<|im_start|>' + message.role + '\n' + (message.content or '') -}}
{%- for call in message.tool_calls or [] -%}
{{- '<tool_call>\n{"name": "' + call.function.name + '", "arguments": ' -}}
{{- call.function.arguments if call.function.arguments is string else call.function.arguments | tojson -}}
{{- '}\n</tool_call>' -}}
{%- endfor -%}
{{- '<|im_end|>\n' -}}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\n' -}}{%- endif -%})";

// ChatML, with reasoning as Qwen's models have it.
inline constexpr const char* kThinkTemplate =
    R"({%- for message in messages -%}
{{- '<|im_start|>' + message.role + '\n' -}}
{%- if message.role == 'assistant' and message.reasoning_content -%}
{{- '<think>\n' + message.reasoning_content + '\n</think>\n\n' -}}
{%- endif -%}
{{- (message.content or '') + '<|im_end|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
{{- '<|im_start|>assistant\n' -}}
{%- if enable_thinking is defined and enable_thinking is false -%}{{- '<think>\n\n</think>\n\n' -}}{%- endif -%}
{%- endif -%})";

inline constexpr const char* kWeatherTool =
    R"([{"type": "function", "function": {"name": "weather", "description": "The weather of a city", "parameters": {
       "type": "object", "properties": {"city": {"type": "string", "enum": ["Rome", "Oslo"]}}, "required": ["city"]}}}])";

}  // namespace wasinn::test
