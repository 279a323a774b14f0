"""The same tests on llama.cpp's own server: so what is listed as a difference is one."""

import os
import unittest

from llama_server_test import Side


class There(Side):
    def test_llama_server(self):
        self.check("there", self.run_tests(LLAMA_SERVER_BIN_PATH=os.environ["WASINN_LLAMA_SERVER"]))


if __name__ == "__main__":
    unittest.main()
