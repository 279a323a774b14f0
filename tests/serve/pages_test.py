"""Servers that pages start, and what clients ask of them there."""

import shlex

from pages import SOURCE, PagesTest, blocks, pages_with
from server import Server


class ServersTest(PagesTest):
    def serve(self, block):
        """Runs what stands before the server's command, which is the block's last line, and starts that on ports of its own."""
        *before, command = block.strip().splitlines()
        if before:
            self.run_step("\n".join(before))
        words = shlex.split(command)
        self.assertEqual(words[:2], ["build/release/bin/wasinn", "serve"])
        server = Server(self.dir, self.env, [*words[2:], "--grpc-port", "0"])
        self.addCleanup(server.process.communicate)
        self.addCleanup(server.process.kill)
        return server

    def ask(self, server, block):
        for port, real in (("8000", server.port), ("8001", server.grpc_port), ("8002", server.metrics_port)):
            block = block.replace(f"localhost:{port}", f"localhost:{real}")
        return self.run_step(f'curl() {{ command curl --fail --silent --show-error "$@"; }}\n{block}')

    def test_servers_that_pages_mark(self):
        pages = pages_with("serve")
        self.assertGreater(len(pages), 3)
        for page in pages:
            asked = [(end, block) for _, block, end in blocks(page, "ask")]
            for needed, block, end in blocks(page, "serve"):
                if not set((needed or "").split()) <= self.there:
                    continue
                with self.subTest(f"{page.relative_to(SOURCE)}: {block.splitlines()[-1]}"):
                    server = self.serve(block)
                    question = next(block for where, block in asked if where > end)
                    self.assertNotEqual(self.ask(server, question), "")
                    self.assertEqual(server.stop()[0], 0)

    def test_an_error_is_noticed(self):
        server = self.serve("build/release/bin/wasinn serve --model digits=models/digits.onnx\n")
        self.assertIn('"digits"', self.ask(server, "curl localhost:8000/v2/models/digits\n"))
        with self.assertRaises(AssertionError):
            self.ask(server, "curl localhost:8000/v2/models/letters\n")
