"""Guests whose language model llama.cpp's own server has, which has one model."""

import json
import os
import signal
import subprocess
import urllib.request

from command import refused_port, until
from language import COUNT, HELLO
from language_remote_test import CALLS, COMPLETION, EMBEDDINGS, GREEDY, LOCAL, MESSAGE, LanguageRemoteTest


class LlamaServer(LanguageRemoteTest):
    def start(self, model, *flags):
        port = refused_port(self)
        command = [os.environ["WASINN_LLAMA_SERVER"], "--model", LOCAL[model], "--alias", model, "--port", str(port), "--threads", "1", "--parallel", "1", "--jinja", *flags]
        process = subprocess.Popen(command, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.send_signal, signal.SIGKILL)

        def answers():
            try:
                return urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=10).status == 200
            except OSError:
                return False

        until(answers)
        return port

    def test_prompts_and_messages(self):
        port = self.start("tiny")
        self.both(port, "tiny", "GNU General Public", config=GREEDY)
        for options in ({"reverse-prompt": "with"}, {"grammar": 'root ::= [a-z ]{8}'}, {"json-schema": {"type": "integer"}}):
            with self.subTest(options):
                self.both(port, "tiny", "GNU General Public", config=GREEDY, options=options)
        self.both(port, "tiny", COUNT, COMPLETION, MESSAGE, config={"chat": True, "temp": 0})
        self.assertRegex(self.text(self.address(port, "other"), "Hello")[0], "load: 8: .*the server has no model 'other', but tiny\"?$")
        [reported] = self.text(self.address(port, "tiny"), "word " * 20000)
        self.assertRegex(reported, "compute: 102: ")

    def test_tools(self):
        port = self.start("caller")
        message = json.loads(self.text(self.address(port, "caller"), HELLO, MESSAGE, config=CALLS)[0])
        self.assertEqual(message["tool_calls"][0]["function"]["name"], "weather")

    def test_embeddings(self):
        self.both(self.start("embedder", "--embeddings"), "embedder", "a text", EMBEDDINGS, config={"embedding": True})
