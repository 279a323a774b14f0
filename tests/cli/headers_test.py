"""The headers for guests in C++."""

import json
import os

from command import PROBE, CommandTest


class HeadersTest(CommandTest):
    def test_what_is_wasinns_own(self):
        self.file("models/m.gguf", "GGUF\nin x f32 -1\n")
        guest = os.path.join(os.path.dirname(PROBE), "cli-headers.wasm")
        result = self.wasinn("run", "--nn-load", "in-process", "--dir", "models", guest, "models/m.gguf")
        self.check(result)
        description = json.loads(result.out)
        self.assertEqual((description["backend"], description["inputs"][0]["shape"]), ("echo", [-1]))
