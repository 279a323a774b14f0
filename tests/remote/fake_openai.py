"""A server of OpenAI's API that says what a test wants."""

import http.server
import json
import threading


def chat(message, reason="stop", **more):
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": {"prompt_tokens": 5, "completion_tokens": 2}, **more}


def completion(text, reason="stop", **more):
    return {"choices": [{"index": 0, "text": text, "finish_reason": reason}], "usage": {"prompt_tokens": 5, "completion_tokens": 2}, **more}


class FakeOpenAi:
    """`answer` makes a status and a body, which is JSON or bytes, of a path and a request's fields. Keeps what it was asked."""

    def __init__(self, answer=lambda path, fields: (200, completion("so")), models=("m",), listing=None):
        self.answer, self.listing = answer, listing or (200, {"object": "list", "data": [{"id": name} for name in models]})
        self.asked, self.headers = [], {}
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def reply(self, status, body):
                body = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                if self.path.endswith("/models"):
                    return self.reply(*fake.listing)
                self.reply(404, {"error": {"message": "no such path", "type": "not_found_error"}})

            def do_POST(self):
                fields = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                fake.asked.append((self.path, fields))
                fake.headers = dict(self.headers)
                self.reply(*fake.answer(self.path, fields))

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
