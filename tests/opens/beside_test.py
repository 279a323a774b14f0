"""Each framework in a program that is linked with libraries that frameworks have inside, too: Protocol Buffers, Abseil, OpenSSL, zlib, OpenMP."""

import os
import unittest

from command import CommandTest
from digits import DIGITS, TEXTS, expected, output_of, settings

BESIDE = os.environ["WASINN_BESIDE"]


class BesideTest(CommandTest):
    def expect(self, files):
        result = self.wasinn(self.file("models.toml", settings(*files)), *(f"{file}={output_of(file)}" for file in files), program=BESIDE)
        self.check(result)
        self.assertEqual(result.out.splitlines(), [f"{file} {expected(file).hex()}" for file in files], result)

    def test_one_after_the_other(self):
        self.expect(DIGITS + TEXTS)
        self.expect((DIGITS + TEXTS)[::-1])

    def test_one_alone(self):
        for file in DIGITS + TEXTS:
            with self.subTest(file):
                self.expect([file])


if __name__ == "__main__":
    unittest.main()
