"""The same as fake.py over HTTP: what a test's `infer` makes of messages goes as JSON, with raw bytes behind it or without."""

import json
import socket
import struct
import threading

import fake
import grpc
import http_server
import inference_pb2 as pb

STATUS = {grpc.StatusCode.INTERNAL: 500, grpc.StatusCode.UNAVAILABLE: 503}
FORMATS = {"FP32": "f", "FP64": "d", "INT32": "i", "INT64": "q", "UINT8": "B"}


class Aborted(Exception):
    pass


class Context:
    """The part of gRPC's context that `infer` uses."""

    def __init__(self, handler):
        self.handler, self.active = handler, True

    def abort(self, code, text):
        raise Aborted(STATUS[code], text)

    def invocation_metadata(self):
        return [(name.lower(), value) for name, value in self.handler.headers.items()]

    def is_active(self):
        return self.active

    def add_callback(self, call):
        """When the client has gone."""

        def wait():
            self.handler.connection.recv(1, socket.MSG_PEEK)
            self.active = False
            call()

        threading.Thread(target=wait, daemon=True).start()


def to_message(head, raw):
    """A request as gRPC has it."""
    message = pb.ModelInferRequest(model_name="m")
    for described in head["inputs"]:
        message.inputs.add(name=described["name"], datatype=described["datatype"], shape=described["shape"])
        if "data" in described:
            message.raw_input_contents.append(
                struct.pack(f"<{len(described['data'])}{FORMATS[described['datatype']]}", *described["data"])
            )
        else:
            size = described["parameters"]["binary_data_size"]
            message.raw_input_contents.append(raw[:size])
            raw = raw[size:]
    for described in head.get("outputs", ()):
        message.outputs.add(name=described["name"])
    assert not raw
    return message


def of_message(message, binary):
    """An answer's JSON, and what is behind it."""
    outputs, behind = [], b""
    for i, described in enumerate(message.outputs):
        output = {"name": described.name, "datatype": described.datatype, "shape": list(described.shape)}
        if not message.raw_output_contents:
            output["data"] = list(described.contents.fp32_contents)
        elif binary:
            output["parameters"] = {"binary_data_size": len(message.raw_output_contents[i])}
            behind += message.raw_output_contents[i]
        else:
            raw, kind = message.raw_output_contents[i], FORMATS[described.datatype]
            output["data"] = list(struct.unpack(f"<{len(raw) // struct.calcsize(kind)}{kind}", raw))
        outputs.append(output)
    return json.dumps({"model_name": "m", "outputs": outputs}).encode(), behind


def of_metadata(message):
    def tensors(some):
        return [{"name": one.name, "datatype": one.datatype, "shape": list(one.shape)} for one in some]

    return {"name": message.name, "platform": message.platform, "inputs": tensors(message.inputs), "outputs": tensors(message.outputs)}


class Handler(http_server.Handler):
    def answer(self, status, body, behind=b""):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Inference_Header_Content_Length": str(len(body))} if behind else {}
        self.reply(status, body + behind, **headers)

    def do_GET(self):
        one = self.server.fake
        if self.path == "/v2":
            self.answer(200, {"name": "fake", "version": "1", "extensions": ["binary_tensor_data"] if one.binary else []})
        elif self.path == "/v2/models/m/ready":
            self.answer(200, {"name": "m", "ready": one.is_ready})
        elif self.path == "/v2/models/m":
            self.answer(200, of_metadata(one.described))
        else:
            self.answer(404, {"error": f"there is no {self.path}"})

    def do_POST(self):
        one = self.server.fake
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert self.path == "/v2/models/m/infer", self.path
        assert one.binary == ("Inference-Header-Content-Length" in self.headers)
        head = int(self.headers.get("Inference-Header-Content-Length", len(body)))
        context = Context(self)
        one.count(context)
        try:
            answer = one.infer(to_message(json.loads(body[:head]), body[head:]), context)
            self.answer(200, *of_message(answer, one.binary))
        except Aborted as aborted:
            self.answer(aborted.args[0], {"error": aborted.args[1]})


class HttpFake(fake.Counted):

    def __init__(
        self,
        infer=lambda request, context: fake.echo(request),
        described=None,
        ready=True,
        binary=True,
        handler=Handler,
        tls=None,
    ):
        super().__init__(infer, described, ready)
        self.binary = binary
        self.server = http_server.HttpServer(handler, tls, fake=self)
        self.port, self.stop = self.server.server_port, self.server.stop
