"""The Llama architecture as llama.cpp computes it: RMS norm, rotary positions of neighbouring pairs, grouped queries,
SwiGLU, the embedding used again as the last layer."""

import dataclasses

import torch
from torch import nn
from torch.nn import functional


@dataclasses.dataclass
class Config:
    vocabulary: int = 512
    width: int = 128  # widths are multiples of 32, the block of the quantised types
    layers: int = 3
    heads: int = 4
    kv_heads: int = 2
    hidden: int = 320
    context: int = 512
    rope_base: float = 10000.0
    epsilon: float = 1e-5

    @property
    def head_width(self):
        return self.width // self.heads


def rotation(config, length):
    """cos and sin, [length, head_width / 2]."""
    frequency = config.rope_base ** (-torch.arange(0, config.head_width, 2).float() / config.head_width)
    angle = torch.outer(torch.arange(length).float(), frequency)
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        kv_width = config.kv_heads * config.head_width
        self.attn_norm = nn.RMSNorm(config.width, eps=config.epsilon)
        self.attn_q = nn.Linear(config.width, config.width, bias=False)
        self.attn_k = nn.Linear(config.width, kv_width, bias=False)
        self.attn_v = nn.Linear(config.width, kv_width, bias=False)
        self.attn_output = nn.Linear(config.width, config.width, bias=False)
        self.ffn_norm = nn.RMSNorm(config.width, eps=config.epsilon)
        self.ffn_gate = nn.Linear(config.width, config.hidden, bias=False)
        self.ffn_up = nn.Linear(config.width, config.hidden, bias=False)
        self.ffn_down = nn.Linear(config.hidden, config.width, bias=False)

    def forward(self, x, cos, sin):
        batch, length, _ = x.shape

        def heads(y, count):
            return y.view(batch, length, count, self.config.head_width).transpose(1, 2)

        y = self.attn_norm(x)
        q = rotate(heads(self.attn_q(y), self.config.heads), cos, sin)
        k = rotate(heads(self.attn_k(y), self.config.kv_heads), cos, sin)
        v = heads(self.attn_v(y), self.config.kv_heads)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.attn_output(y.transpose(1, 2).reshape(batch, length, -1))
        y = self.ffn_norm(x)
        return x + self.ffn_down(functional.silu(self.ffn_gate(y)) * self.ffn_up(y))


class Model(nn.Module):
    """Its parameters have llama.cpp's names."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.token_embd = nn.Embedding(config.vocabulary, config.width)
        self.blk = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.output_norm = nn.RMSNorm(config.width, eps=config.epsilon)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.04)

    def forward(self, tokens):
        cos, sin = rotation(self.config, tokens.shape[1])
        x = self.token_embd(tokens)
        for block in self.blk:
            x = block(x, cos, sin)
        return self.output_norm(x) @ self.token_embd.weight.T
