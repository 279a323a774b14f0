"""Parts that the tests of others' clients share."""

import warnings

import numpy as np

from server import ServeTest

ARRAY = np.array([[0.5], [-1.5], [3e38]], np.float32)


class ClientTest(ServeTest):
    def setUp(self):
        super().setUp()
        warnings.simplefilter("ignore", DeprecationWarning)  # of what these clients call
        self.server = self.serve(models={"m": "in x f32 -1,1\n", "text": "in x u8 -1 opaque\n"})
        self.url, self.address = f"http://127.0.0.1:{self.server.port}", f"127.0.0.1:{self.server.grpc_port}"
