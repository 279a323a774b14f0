"""Writes small projectors with random weights, which turn an image or a sound into a language model's embeddings, and a
language model whose tokens have four positions each."""

import pathlib

import gguf
import numpy as np

FOLDER = pathlib.Path(__file__).parent
TINY_WIDTH = 128  # of models/tiny.gguf
WIDTH, LAYERS, HEADS, HIDDEN = 32, 2, 2, 64
IMAGE, PATCH = 32, 8
MELS, FRAMES, STACKED = 16, 1500, 32


class Projector:
    def __init__(self, name, kind, sense):
        self.random = np.random.default_rng(13)
        self.writer = gguf.GGUFWriter(FOLDER / f"{name}.gguf", "clip")
        self.writer.add_name(name)
        self.writer.add_string("clip.projector_type", kind)
        self.writer.add_bool(f"clip.has_{sense}_encoder", True)
        self.sense = sense

    def numbers(self, **numbers):
        for name, number in numbers.items():
            self.writer.add_uint32(f"clip.{self.sense}.{name.replace('__', '.')}", number)

    def encoder(self, width, text_width, layers):
        self.numbers(embedding_length=width, feed_forward_length=HIDDEN, block_count=layers, projection_dim=text_width, attention__head_count=HEADS)
        self.writer.add_float32(f"clip.{self.sense}.attention.layer_norm_epsilon", 1e-5)

    def images(self):
        self.numbers(image_size=IMAGE, patch_size=PATCH)
        self.writer.add_array("clip.vision.image_mean", [0.5, 0.5, 0.5])
        self.writer.add_array("clip.vision.image_std", [0.5, 0.5, 0.5])
        self.writer.add_bool("clip.use_gelu", True)
        self.add("v.patch_embd.weight", WIDTH, 3, PATCH, PATCH)

    def add(self, tensor, *shape, scale=0.3, kind=np.float32):
        self.writer.add_tensor(tensor, self.random.normal(0, scale, shape).astype(kind))

    def norm(self, tensor, width, bias=True):
        self.writer.add_tensor(tensor + ".weight", np.ones(width, np.float32))
        if bias:
            self.writer.add_tensor(tensor + ".bias", np.zeros(width, np.float32))

    def blocks(self, prefix, width, layers, key_bias=True):
        for i in range(layers):
            layer = f"{prefix}.blk.{i}."
            for part in ("attn_q", "attn_k", "attn_v", "attn_out"):
                self.add(layer + part + ".weight", width, width)
                if key_bias or part != "attn_k":
                    self.add(layer + part + ".bias", width)
            self.norm(layer + "ln1", width)
            self.norm(layer + "ln2", width)
            self.add(layer + "ffn_up.weight", HIDDEN, width)
            self.add(layer + "ffn_up.bias", HIDDEN)
            self.add(layer + "ffn_down.weight", width, HIDDEN)
            self.add(layer + "ffn_down.bias", width)
        self.norm(f"{prefix}.post_ln", width)

    def close(self):
        self.writer.write_header_to_file()
        self.writer.write_kv_data_to_file()
        self.writer.write_tensors_to_file()
        self.writer.close()


def see():
    """As in LLaVA: an image is 16 tokens, which see only those before them."""
    projector = Projector("see", "mlp", "vision")
    projector.encoder(WIDTH, TINY_WIDTH, LAYERS + 1)  # whose last layer it does not use
    projector.images()
    projector.add("v.position_embd.weight", (IMAGE // PATCH) ** 2, WIDTH)
    projector.blocks("v", WIDTH, LAYERS + 1)
    projector.add("mm.0.weight", TINY_WIDTH, WIDTH)
    projector.add("mm.0.bias", TINY_WIDTH)
    projector.add("mm.2.weight", TINY_WIDTH, TINY_WIDTH, scale=0.02)
    projector.add("mm.2.bias", TINY_WIDTH)
    projector.close()


def see_whole():
    """As in Gemma 3: an image is 4 tokens that see each other."""
    projector = Projector("see_whole", "gemma3", "vision")
    projector.encoder(WIDTH, TINY_WIDTH, LAYERS)
    projector.images()
    projector.numbers(projector__scale_factor=2)
    projector.add("v.position_embd.weight", (IMAGE // PATCH) ** 2, WIDTH)
    projector.blocks("v", WIDTH, LAYERS)
    projector.add("mm.input_projection.weight", WIDTH, TINY_WIDTH, scale=3)
    projector.norm("mm.soft_emb_norm", WIDTH, bias=False)
    projector.close()


def hear():
    """As in Ultravox: 30 seconds of sound are 47 tokens."""
    width = 16
    projector = Projector("hear", "ultravox", "audio")
    projector.encoder(width, TINY_WIDTH, LAYERS)
    projector.numbers(num_mel_bins=MELS, projector__stack_factor=STACKED)
    projector.add("a.position_embd.weight", FRAMES, width, scale=0.1)
    for i, channels in ((1, MELS), (2, width)):
        projector.add(f"a.conv1d.{i}.weight", width, channels, 3, kind=np.float16)
        projector.add(f"a.conv1d.{i}.bias", width, 1)
    projector.blocks("a", width, LAYERS, key_bias=False)
    projector.norm("mm.a.norm_pre", STACKED * width, bias=False)
    projector.add("mm.a.mlp.1.weight", HIDDEN, STACKED * width, scale=0.1)
    projector.norm("mm.a.norm_mid", HIDDEN // 2, bias=False)
    projector.add("mm.a.mlp.2.weight", TINY_WIDTH, HIDDEN // 2, scale=0.02)
    projector.close()


PLACES_WIDTH = 64


def see_places():
    """As in Qwen2-VL: an image has as many tokens as it is large, each with its place in it."""
    projector = Projector("see_places", "qwen2vl_merger", "vision")
    projector.encoder(WIDTH, PLACES_WIDTH, LAYERS)
    projector.images()
    projector.add("v.patch_embd.weight.1", WIDTH, 3, PATCH, PATCH)
    projector.blocks("v", WIDTH, LAYERS)
    projector.add("mm.0.weight", 4 * WIDTH, 4 * WIDTH, scale=0.1)
    projector.add("mm.0.bias", 4 * WIDTH)
    projector.add("mm.2.weight", PLACES_WIDTH, 4 * WIDTH, scale=0.1)
    projector.add("mm.2.bias", PLACES_WIDTH)
    projector.close()


def characters():
    """GPT-2's character for each byte."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = iter(range(256, 512))
    return [chr(byte if byte in plain else next(others)) for byte in range(256)]


def places():
    """The language model for `see_places`, which says letters that follow from all that it has read."""
    random = np.random.default_rng(14)
    heads, hidden = 4, 64
    tokens = ["<|endoftext|>", *characters(), "ab"]
    writer = gguf.GGUFWriter(FOLDER / "places.gguf", "qwen2vl")
    writer.add_name("places")
    writer.add_context_length(512)
    writer.add_embedding_length(PLACES_WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(hidden)
    writer.add_head_count(heads)
    writer.add_layer_norm_rms_eps(1e-5)
    quarter = PLACES_WIDTH // heads // 8
    writer.add_rope_dimension_sections([2 * quarter, quarter, quarter, 0])
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.CONTROL] + [gguf.TokenType.NORMAL] * (len(tokens) - 1))
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    writer.add_add_bos_token(False)

    def add(tensor, *shape, scale=0.3):
        writer.add_tensor(tensor + ".weight", random.normal(0, scale, shape).astype(np.float32))

    # Texts are ASCII letters, so that each token is one.
    output = random.normal(0, 1, (len(tokens), PLACES_WIDTH)).astype(np.float32)
    letters = {1 + ord(letter) for letter in "abcdefghijklmnopqrstuvwxyz"}
    for token in range(len(tokens)):
        if token not in letters:
            output[token] = 0
    add("token_embd", len(tokens), PLACES_WIDTH, scale=1)
    writer.add_tensor("output_norm.weight", np.ones(PLACES_WIDTH, np.float32))
    writer.add_tensor("output.weight", output)
    for i in range(LAYERS):
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{i}.{name}.weight", np.ones(PLACES_WIDTH, np.float32))
        for name, shape in (("attn_q", (PLACES_WIDTH, PLACES_WIDTH)), ("attn_k", (PLACES_WIDTH, PLACES_WIDTH)), ("attn_v", (PLACES_WIDTH, PLACES_WIDTH)),
                            ("attn_output", (PLACES_WIDTH, PLACES_WIDTH)), ("ffn_gate", (hidden, PLACES_WIDTH)), ("ffn_up", (hidden, PLACES_WIDTH)),
                            ("ffn_down", (PLACES_WIDTH, hidden))):
            add(f"blk.{i}.{name}", *shape)
        for name in ("attn_q", "attn_k", "attn_v"):
            writer.add_tensor(f"blk.{i}.{name}.bias", random.normal(0, 0.3, PLACES_WIDTH).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    see()
    see_whole()
    hear()
    see_places()
    places()
