"""A server of OpenAI's API that says what a test wants."""

import json

import http_server


def completion(text):
    return {"choices": [{"index": 0, "text": text, "finish_reason": "stop"}], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}


class FakeOpenAi:
    """`answer` makes a status and a body, which is JSON or bytes, of a path and a request's fields. Keeps what it was asked."""

    def __init__(self, answer=lambda path, fields: (200, completion("so")), models=("m",), listing=None):
        self.answer, self.listing = answer, listing or (200, {"object": "list", "data": [{"id": name} for name in models]})
        self.asked, self.headers = [], {}
        fake = self

        class Handler(http_server.Handler):
            def answer(self, status, body):
                self.reply(status, body if isinstance(body, bytes) else json.dumps(body).encode(), Content_Type="application/json")

            def do_GET(self):
                if self.path.endswith("/models"):
                    return self.answer(*fake.listing)
                self.answer(404, {"error": {"message": "no such path", "type": "not_found_error"}})

            def do_POST(self):
                fields = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                fake.asked.append((self.path, fields))
                fake.headers = dict(self.headers)
                self.answer(*fake.answer(self.path, fields))

        server = http_server.HttpServer(Handler)
        self.port, self.stop = server.server_port, server.stop
