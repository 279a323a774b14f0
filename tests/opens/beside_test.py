"""Each framework in a program that is linked with libraries that frameworks have inside, too: Protocol Buffers, Abseil, OpenSSL, zlib, OpenMP."""

import os
import struct

from command import CommandTest
from digits import DIGITS, FILES, TEXTS, expected, output_of, settings

BESIDE = os.environ["WASINN_BESIDE"]


def numbers(answer):
    return struct.unpack(f"<{len(answer) // 4}f", answer)


class BesideTest(CommandTest):
    def expect(self, files):
        result = self.wasinn(self.file("models.toml", settings(*files)), *(f"{file}={output_of(file)}" for file in files), program=BESIDE)
        self.check(result)
        answers = dict(line.split() for line in result.out.splitlines())
        self.assertEqual(list(answers), list(files), result)
        for file, answer in answers.items():
            self.check_answer(file, bytes.fromhex(answer))

    # On some processors TensorFlow computes a convolution as the first model of the process does that has the same shapes, and so
    # the last bits are those of whichever model came first.
    def check_answer(self, file, answer):
        if file not in FILES["tensorflow"]:
            return self.assertEqual(answer, expected(file))
        self.assertEqual(len(answer), len(expected(file)))
        for one, other in zip(numbers(answer), numbers(expected(file))):
            self.assertAlmostEqual(one, other, delta=1e-5 * max(abs(one), 1e-2), msg=file)

    def test_one_after_the_other(self):
        self.expect(DIGITS + TEXTS)
        self.expect((DIGITS + TEXTS)[::-1])

    def test_one_alone(self):
        for file in DIGITS + TEXTS:
            with self.subTest(file):
                self.expect([file])
