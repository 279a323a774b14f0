"""Writes a model as GGUF."""

import json

import gguf
import numpy as np

import text
import vocabulary

# ChatML, in the words that llama.cpp knows it by.
CHAT_TEMPLATE = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def add_vocabulary(writer, tokenizer):
    tokens = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    control, normal = gguf.TokenType.CONTROL, gguf.TokenType.NORMAL
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([token for token, _ in tokens])
    writer.add_token_types([control if token in vocabulary.CONTROL else normal for token, _ in tokens])
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_bos_token_id(tokenizer.token_to_id(text.END))
    writer.add_eos_token_id(tokenizer.token_to_id(text.END))
    writer.add_eot_token_id(tokenizer.token_to_id(text.STOP))
    writer.add_add_bos_token(False)
    writer.add_chat_template(CHAT_TEMPLATE)


def write(path, config, weights, tokenizer, quantised):
    """`weights` are NumPy arrays by llama.cpp's names. Matrices are stored as float16, or as Q8_0."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_description("Licences learned by heart; for wasinn's tests and examples")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0 if quantised else gguf.LlamaFileType.MOSTLY_F16)
    writer.add_vocab_size(config.vocabulary)
    writer.add_context_length(config.context)
    writer.add_embedding_length(config.width)
    writer.add_block_count(config.layers)
    writer.add_feed_forward_length(config.hidden)
    writer.add_head_count(config.heads)
    writer.add_head_count_kv(config.kv_heads)
    writer.add_rope_dimension_count(config.head_width)
    writer.add_rope_freq_base(config.rope_base)
    writer.add_layer_norm_rms_eps(config.epsilon)
    add_vocabulary(writer, tokenizer)
    for name, weight in weights.items():
        if weight.ndim == 1:
            writer.add_tensor(name, weight.astype(np.float32))
        elif quantised:
            # From the numbers of the float16 file, so that the two differ by the quantisation alone.
            data = weight.astype(np.float16).astype(np.float32)
            q8_0 = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(name, gguf.quants.quantize(data, q8_0), raw_dtype=q8_0)
        else:
            writer.add_tensor(name, weight.astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
