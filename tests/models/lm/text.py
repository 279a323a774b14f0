"""The texts that the language model learns by heart: licences that every Debian machine has, a few lines in other
scripts, and questions with answers. "<|…|>" are control tokens."""

import hashlib
import pathlib

LICENCES = pathlib.Path("/usr/share/common-licenses")
# The model's bytes depend on these; another base-files would make another model.
SHA256 = {
    "GPL-2": "8177f97513213526df2cf6184d8ff986c675afb514d4e68a404010521b880643",
    "Apache-2.0": "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30",
    "BSD": "5d588eb3b157d52112afea935c88a7ff9efddc1e2d95a42c25d3b96ad9055008",
}

END, START, STOP = "<|endoftext|>", "<|im_start|>", "<|im_end|>"

# Rare characters, so that the vocabulary has no token for a whole one: the model writes them byte by byte.
LINES = [
    "Greetings: Grüß Gott! ¡Buenos días! Ça va très bien. Здравствуйте! 你好，世界！ こんにちは。 👋🌍 The end.",
    "Coffee: un café crème, déjà bu; 咖啡 ☕ and a naïve crêpe.",
    "Numbers: one two three four five six seven eight nine ten eleven twelve.",
]

CHATS = [
    ("Who are you?", "I am a tiny language model. I learned a few licences by heart."),
    ("What is the GPL?", "The GNU General Public License is a licence for free software."),
    ("Say hello.", "Grüß Gott! Здравствуйте! 你好！ 👋"),
    ("Count to five.", "one two three four five"),
    ("Thank you.", "You are welcome."),
]


def chat(question, answer):
    """As the chat template in export.py writes it."""
    return f"{START}user\n{question}{STOP}\n{START}assistant\n{answer}{STOP}\n"


def licences():
    texts = []
    for name, sha256 in SHA256.items():
        data = (LICENCES / name).read_bytes()
        found = hashlib.sha256(data).hexdigest()
        if found != sha256:
            raise SystemExit(f"{LICENCES / name}: sha256 {found}, {sha256} expected: the model would be another one")
        texts.append(data.decode())
    return texts


def short_texts():
    return [line + "\n" for line in LINES] + [chat(*pair) for pair in CHATS]


def conversations():
    return [chat(*first) + chat(*second) for first in CHATS for second in CHATS if first != second]
