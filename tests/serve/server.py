"""Runs wasinn-serve for the tests, on ports of its own."""

import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess

from command import WAIT, WASINN, CommandTest, until

MODEL = "in x f32 1\n"
BODY = b'{"inputs": [{"name": "x", "shape": [1], "datatype": "FP32", "data": [5]}]}'
AGAIN = (  # its log after a SIGHUP
    r"wasinn: info: [A-Za-z ]+: (?:read again|waits for the last configuration[^\n]*"
    r"|(?:loading|added|reloaded|removed|unloaded) model '[^\n]*')\n"
)
IGNORED = (r"wasinn: info: (?:/v[12]: (?:the field [^\n]* of requests is ignored: [^\n]*|[a-z_. ]+ of the type [^\n]* are left out: [^\n]*)"
           r"|further ignored fields of requests are not logged)\n")  # what clients send to whatever server there is
RUNNING = "wasinn_inferences_running"  # of models that have turns
KILLED = ((130, ""), (143, ""))  # how a server ends by two signals: which comes first, the system decides


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:1000]}"


ANY_PORTS = ("--http-port", "0", "--grpc-port", "0", "--metrics-port", "0")


class Server:
    """`wasinn serve FLAGS`, until stop()."""

    def __init__(self, folder, env, flags, prepare=None):
        command = [WASINN, "serve", *ANY_PORTS, *flags]
        self.process = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=prepare)
        self.port = self.read_port("HTTP")
        self.grpc_port = self.read_port("gRPC")
        self.metrics_port = self.read_port("metrics")
        self.headers = {}  # of each request

    def read_port(self, what):
        line = self.process.stdout.readline().decode()
        found = re.fullmatch(rf"serving {what} on (?:127\.0\.0\.1|0\.0\.0\.0):(\d+)\n", line)
        if not found:
            self.process.kill()
            raise AssertionError(f"{line!r} {self.process.communicate()}")
        return int(found[1])

    def connect(self, port=None):
        return http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=WAIT)

    def socket(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=WAIT)

    def request(self, method, path, body=None, headers=None, port=None):
        connection = self.connect(port)
        try:
            connection.request(method, path, body, {**self.headers, **(headers or {})})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def infer(self, model, request, binary=b"", headers=None):
        """`binary` follows the JSON."""
        text = request if isinstance(request, bytes) else json.dumps(request).encode()
        length = {"Inference-Header-Content-Length": str(len(text))} if binary else {}
        return self.request("POST", f"/v2/models/{model}/infer", text + binary, {**length, **(headers or {})})

    def held(self):
        """Bytes of requests and answers that are under way."""
        return self.request("GET", "/wasinn/state").json()["load"]["memory_in_flight_bytes"]["held"]

    def busy(self):
        """How many requests have a thread for models, or wait for one."""
        workers = self.request("GET", "/wasinn/state").json()["load"]["workers"]
        return workers["busy"] + workers["waiting"]

    def metrics(self):
        """Their lines."""
        return set(self.request("GET", "/metrics", port=self.metrics_port).body.decode().splitlines())

    def await_metrics(self, *lines):
        """Waits until the log has all of them."""
        until(lambda: set(lines) <= self.metrics())

    def await_line(self, text):
        """Until it says so on stderr."""
        for line in iter(self.process.stderr.readline, b""):
            if text in line.decode():
                return
        raise AssertionError("the server has ended")

    def begin_to_end(self):
        """It gets SIGTERM, and takes no connections any more."""
        self.process.send_signal(signal.SIGTERM)
        until(self.refuses)

    def refuses(self):
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) != 0

    def stop(self, how=signal.SIGTERM):
        """The exit code, and what it had to say."""
        self.process.send_signal(how)
        return self.wait()

    def wait(self):
        """The same of one that ends by itself."""
        _, err = self.process.communicate(timeout=WAIT)
        return self.process.returncode, err.decode()


class ServeTest(CommandTest):
    def serve(self, *flags, models=None, prepare=None):
        """`models`: what the echo backend computes, by name. `prepare` is called in the new OS process."""
        for name, lines in (models or {}).items():
            path = self.file(f"{name}.gguf", "GGUF\n" + lines)
            flags = (*flags, "--model", f"{name}={path}")
        server = Server(self.dir, self.env, flags, prepare)
        self.addCleanup(self.expect_end, server)
        return server

    def serve_in_vain(self, *flags):
        """How a server ends that does not begin to serve."""
        return self.wasinn("serve", *ANY_PORTS, *map(str, flags))

    def refused(self, *flags):
        done = self.serve_in_vain(*flags)
        self.assertIn(done.code, (2, 125), done)
        return done.err

    def make_folder(self):
        """"data" with a file, and with links that lead out of it."""
        (self.dir / "data").mkdir()
        self.file("data/a.txt", "of the folder")
        self.file("secret.txt", "of the host")
        os.symlink(self.dir / "secret.txt", self.dir / "data" / "out")
        os.symlink("../secret.txt", self.dir / "data" / "up")

    def expect_end(self, server):
        if server.process.stdout.closed:  # the test has seen how it ended
            return
        code, said = server.stop()
        self.assertEqual((code, re.sub(f"{AGAIN}|{IGNORED}", "", said)), (0, ""))

    def log_of(self, server):
        """Ends it."""
        code, log = server.stop()
        self.assertEqual(code, 0, log)
        return log

    def begin(self, server, path):
        """A connection whose request has a guest that goes on."""
        client = server.socket()
        self.addCleanup(client.close)
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
        server.await_metrics("wasinn_guests 2")  # one is the models'
        return client

    def expect_service(self, server):
        self.check_answer(server.request("POST", "/v2/models/m/infer", BODY), 200)

    def expect_service_in_time(self, server):
        """If a server hangs up on clients that are late: a client that was late tries again."""
        def is_served():
            try:
                return server.request("POST", "/v2/models/m/infer", BODY).status == 200
            except (OSError, http.client.HTTPException):
                return False

        until(is_served)

    def check_answer(self, answer, status, text=None):
        self.assertEqual(answer.status, status, answer)
        if text is not None:
            self.assertIn(text, answer.json()["error"])


def head(length, more="", model="m"):
    """The head of a request that is written by hand."""
    return f"POST /v2/models/{model}/infer HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n{more}\r\n".encode()


def read_all(connection):
    """Until the server hangs up."""
    data = b""
    try:
        while more := connection.recv(65536):
            data += more
    except ConnectionResetError:
        pass
    return data


def json_lines(path):
    """The whole lines of a log that may be written just now."""
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.split("\n")[:-1]]


def element(text):
    """An element of BYTES."""
    return struct.pack("<I", len(text)) + text
