"""A byte-level BPE vocabulary, as GPT-2's: every byte is a token, so that any text can be written."""

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import text

CONTROL = [text.END, text.START, text.STOP]


def make(size):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=CONTROL,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(text.licences() + text.short_texts(), trainer)
    return tokenizer
