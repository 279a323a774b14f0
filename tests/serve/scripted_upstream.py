"""A server of OpenAI's API that does what a test says, byte by byte."""

import contextlib
import socket
import threading


class Talk:
    """One connection, as its script sees it."""

    def __init__(self, connection):
        self.connection, self.left = connection, b""
        self.line, self.headers, self.body = "", {}, b""

    def read(self):
        """The next request; False: there is none."""
        while b"\r\n\r\n" not in self.left:
            more = self.connection.recv(65536)
            if not more:
                return False
            self.left += more
        head, self.left = self.left.split(b"\r\n\r\n", 1)
        self.line, *lines = head.decode().split("\r\n")
        self.headers = dict(line.split(": ", 1) for line in lines)
        length = int(self.headers["content-length"])
        while len(self.left) < length:
            self.left += self.connection.recv(65536)
        self.body, self.left = self.left[:length], self.left[length:]
        return True

    def send(self, data):
        self.connection.sendall(data if isinstance(data, bytes) else data.encode())

    def begin(self, status="200 OK", kind="text/event-stream", more=""):
        """An answer in chunks."""
        self.send(f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n{more}\r\n")

    def chunk(self, data):
        data = data if isinstance(data, bytes) else data.encode()
        self.send(b"%x\r\n%s\r\n" % (len(data), data))

    def end(self):
        self.chunk("")

    def answer(self, body, status="200 OK", more=""):
        self.send(f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{more}\r\n{body}")

    def has_gone(self):
        """Waits until the other side has ended the connection."""
        try:
            return self.connection.recv(1) == b""
        except ConnectionResetError:
            return True


class ScriptedUpstream:
    """`script` is called with each connection's Talk, on a thread of its own, and may end as it likes. Each connection ends with its script."""

    def __init__(self, script):
        self.script, self.talks = script, []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                talk = Talk(connection)
                self.talks.append(talk)
                threading.Thread(target=self.run, args=(talk,), daemon=True).start()

    def run(self, talk):
        with contextlib.suppress(OSError), talk.connection:
            self.script(talk)

    def stop(self):
        self.listener.close()
        for talk in self.talks:
            with contextlib.suppress(OSError):
                talk.connection.shutdown(socket.SHUT_RDWR)


def always(answer):
    """A script: `answer` is called with the Talk after each request."""

    def script(talk):
        while talk.read():
            answer(talk)

    return script
