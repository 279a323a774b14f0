"""Trains the tiny language model and writes models/tiny.gguf (float16) and models/tiny_q8_0.gguf.

Everything that decides the result is fixed here: seed, steps and number of threads.
"""

import math
import pathlib
import random
import sys
import time

import torch
from torch.nn import functional

import export
import text
import vocabulary
from model import Config, Model

ROOT = pathlib.Path(__file__).resolve().parents[3]
SEED = 6
STEPS = 900
WARMUP = 50
BATCH = 8
LENGTH = 256  # of most windows; every eighth step has the whole context instead
RATE = 4e-3
# The model must continue these, greedily; otherwise it is not written.
CONTINUATIONS = {
    "GNU General Public": " License",
    "Everyone is permitted to copy and distribute": " verbatim copies",
    "Numbers: one two three": " four five six seven eight nine ten eleven twelve.",
    "Coffee: un caf": "é crème, déjà bu; 咖啡 ☕",
    text.chat(*text.CHATS[0]).split("I am")[0]: text.CHATS[0][1] + text.STOP,
    text.chat(*text.CHATS[2]).split("Gr")[0]: text.CHATS[2][1] + text.STOP,
    text.chat(*text.CHATS[0]) + text.chat(*text.CHATS[4]).split("You")[0]: text.CHATS[4][1] + text.STOP,
}


class Windows:
    """Windows of the text: three in four out of a licence, at any place; one of short texts in any order."""

    def __init__(self, tokenizer):
        self.licences = [self.tokens(tokenizer, licence) for licence in text.licences()]
        short = text.short_texts() * 4 + text.conversations()
        self.short = [self.tokens(tokenizer, one) for one in short]
        self.random = random.Random(SEED)

    @staticmethod
    def tokens(tokenizer, words):
        return tokenizer.encode(words).ids + [tokenizer.token_to_id(text.END)]

    def one(self, length):
        if self.random.random() < 0.25:
            window = []
            while len(window) < length:
                window += self.random.choice(self.short)
            return window[:length]
        # Each licence as often as it is long. A window may begin before its end and go on with a short text.
        licence = self.random.choices(self.licences, [len(tokens) for tokens in self.licences])[0]
        begin = max(0, self.random.randrange(-16, len(licence) - 1))
        window = licence[begin : begin + length]
        while len(window) < length:
            window = window + self.random.choice(self.short)
        return window[:length]

    def batch(self, count, length):
        return torch.tensor([self.one(length + 1) for _ in range(count)])


def rate(step):
    warm = min(1.0, (step + 1) / WARMUP)
    return RATE * warm * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * step / STEPS)))


def train(model, windows):
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.01)
    begin = time.monotonic()
    for step in range(STEPS):
        whole = step % 8 == 7
        tokens = windows.batch(BATCH // 2 if whole else BATCH, model.config.context - 1 if whole else LENGTH)
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        logits = model(tokens[:, :-1])
        loss = functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), tokens[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 50 == 49:
            print(f"step {step + 1} of {STEPS}: loss {loss.item():.3f}, {time.monotonic() - begin:.0f} s", flush=True)


@torch.no_grad()
def continuation(model, tokenizer, prompt, count):
    tokens = tokenizer.encode(prompt).ids
    begin = len(tokens)
    for _ in range(count):
        tokens.append(int(model(torch.tensor([tokens]))[0, -1].argmax()))
    return tokenizer.decode(tokens[begin:], skip_special_tokens=False)


def main():
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    config = Config()
    tokenizer = vocabulary.make(config.vocabulary)
    model = Model(config)
    print(f"{sum(parameter.numel() for parameter in model.parameters())} parameters")
    train(model, Windows(tokenizer))
    good = True
    for prompt, expected in CONTINUATIONS.items():
        got = continuation(model, tokenizer, prompt, 80)
        print(repr(prompt), "->", repr(got))
        good = good and got.startswith(expected)
    if not good:
        sys.exit("continuations are not as expected: the models are left as they were")
    weights = {name: value.numpy() for name, value in model.state_dict().items()}
    for name, quantised in (("tiny.gguf", False), ("tiny_q8_0.gguf", True)):
        export.write(ROOT / "models" / name, config, weights, tokenizer, quantised)
        print(f"wrote models/{name}")


if __name__ == "__main__":
    main()
