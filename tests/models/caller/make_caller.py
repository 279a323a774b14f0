"""Writes a small model that calls a tool where it must, and else says nothing. Each token has a number, and the model always takes
the highest one that is allowed."""

import pathlib

import gguf
import numpy as np

WIDTH, HEADS, HIDDEN, CONTEXT = 32, 4, 32, 4096
START, STOP, END, CALL = "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<tool_call>\n"

# ChatML with tools, as many models have them.
TEMPLATE = r"""{%- if tools -%}
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
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\n' -}}{%- endif -%}"""


def characters():
    """GPT-2's character for each byte."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = iter(range(256, 512))
    return [chr(byte if byte in plain else next(others)) for byte in range(256)]


def vocabulary():
    """Each token with its type and its number."""
    control, normal = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
    byte = characters()
    tokens = [(END, control, 5), (START, control, -10), (STOP, control, 11), ("".join(byte[b] for b in CALL.encode()), normal, 10)]
    # Spaces last, of which there might be any number; before them what goes on with a list.
    tokens += [(byte[b], normal, 0 if b == ord(",") else 4 - b / 128 if 32 < b < 127 else -1 - b / 128) for b in range(256)]
    return [*tokens, ("ab", normal, -5)]


def write():
    tokens = vocabulary()
    writer = gguf.GGUFWriter(pathlib.Path(__file__).with_name("caller.gguf"), "llama")
    writer.add_name("caller")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([token for token, _, _ in tokens])
    writer.add_token_types([kind for _, kind, _ in tokens])
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    # Whatever it has read, the last layer's values are the same.
    writer.add_tensor("token_embd.weight", np.ones((len(tokens), WIDTH), np.float32))
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    writer.add_tensor("output.weight", np.array([[number / WIDTH] * WIDTH for _, _, number in tokens], np.float32))
    for name in ("attn_norm", "ffn_norm"):
        writer.add_tensor(f"blk.0.{name}.weight", np.ones(WIDTH, np.float32))
    for name, shape in (("attn_q", (WIDTH, WIDTH)), ("attn_k", (WIDTH, WIDTH)), ("attn_v", (WIDTH, WIDTH)), ("attn_output", (WIDTH, WIDTH)),
                        ("ffn_gate", (HIDDEN, WIDTH)), ("ffn_up", (HIDDEN, WIDTH)), ("ffn_down", (WIDTH, HIDDEN))):
        writer.add_tensor(f"blk.0.{name}.weight", np.zeros(shape, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    write()
