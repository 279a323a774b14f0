"""Servers of HTTP that the tests make: other than wasinn's."""

import contextlib
import http.server
import socket
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *args):
        pass

    def reply(self, status, body, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class HttpServer(http.server.ThreadingHTTPServer):
    """On a port of its own, until stop(). `more`: attributes, for handlers."""

    daemon_threads, block_on_close = True, False
    request_queue_size = 1024  # clients connect while this process has no processor

    def __init__(self, handler, tls=None, **more):
        super().__init__(("127.0.0.1", 0), handler)
        vars(self).update(more)
        self.connections = []
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def get_request(self):
        connection, address = super().get_request()
        self.connections.append(connection)
        return connection, address

    def handle_error(self, request, client_address):
        pass  # clients go as they like

    def stop(self):
        if not self.thread.is_alive():
            return
        self.shutdown()
        self.server_close()
        self.thread.join()
        for one in self.connections:
            with contextlib.suppress(OSError):  # it has ended
                one.shutdown(socket.SHUT_RDWR)
