"""Writes small models with random weights that only read text: they make embeddings, or score a text, and generate nothing."""

import pathlib

import gguf
import numpy as np

FOLDER = pathlib.Path(__file__).parent
WIDTH, LAYERS, HEADS, HIDDEN, CONTEXT = 32, 2, 4, 64, 64
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
# WordPiece: words begin with U+2581, what continues one does not.
LETTERS = [chr(c) for c in range(ord("a"), ord("z") + 1)]
WORDS = ["\u2581" + letter for letter in LETTERS] + LETTERS + ["\u2581" + word for word in ("the", "of", "and", "to", "in")] + ["\u2581."]


def add_vocabulary(writer):
    tokens = SPECIAL + WORDS
    kinds = [gguf.TokenType.CONTROL] * len(SPECIAL) + [gguf.TokenType.NORMAL] * len(WORDS)
    kinds[1] = gguf.TokenType.UNKNOWN
    writer.add_tokenizer_model("bert")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_pad_token_id(0)
    writer.add_unk_token_id(1)
    writer.add_bos_token_id(2)
    writer.add_sep_token_id(3)
    writer.add_eos_token_id(3)
    writer.add_mask_token_id(4)
    writer.add_token_type_count(2)
    return len(tokens)


def write(name, pooling, labels=()):
    """`labels`: of a model that scores: how many numbers it makes."""
    random = np.random.default_rng(12)
    writer = gguf.GGUFWriter(FOLDER / f"{name}.gguf", "bert")
    writer.add_name(name)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    writer.add_pooling_type(pooling)
    if labels:
        writer.add_array("bert.classifier.output_labels", list(labels))
    vocabulary = add_vocabulary(writer)

    def add(tensor, *shape):
        writer.add_tensor(tensor, random.normal(0, 0.3, shape).astype(np.float32))

    def add_norm(tensor):
        writer.add_tensor(tensor + ".weight", np.ones(WIDTH, np.float32))
        writer.add_tensor(tensor + ".bias", np.zeros(WIDTH, np.float32))

    add("token_embd.weight", vocabulary, WIDTH)
    add("token_types.weight", 2, WIDTH)
    add("position_embd.weight", CONTEXT, WIDTH)
    add_norm("token_embd_norm")
    for i in range(LAYERS):
        layer = f"blk.{i}."
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(layer + part + ".weight", WIDTH, WIDTH)
            add(layer + part + ".bias", WIDTH)
        add_norm(layer + "attn_output_norm")
        add(layer + "ffn_up.weight", HIDDEN, WIDTH)
        add(layer + "ffn_up.bias", HIDDEN)
        add(layer + "ffn_down.weight", WIDTH, HIDDEN)
        add(layer + "ffn_down.bias", WIDTH)
        add_norm(layer + "layer_output_norm")
    if labels:
        add("cls.weight", WIDTH, WIDTH)
        add("cls.bias", WIDTH)
        add("cls.output.weight", len(labels), WIDTH)
        add("cls.output.bias", len(labels))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    write("embedder", gguf.PoolingType.MEAN)
    write("ranker", gguf.PoolingType.RANK, ["fits"])
    write("classifier", gguf.PoolingType.RANK, ["good", "bad", "neither"])
