"""A server of the Open Inference Protocol that says what a test wants."""

import threading
from concurrent import futures

import grpc
import inference_pb2 as pb
import inference_pb2_grpc as service_pb2_grpc

PROBE = (("x", "FP32", (2, 3)),)  # what the probe sends and reads


def metadata(inputs=PROBE, outputs=PROBE):
    message = pb.ModelMetadataResponse(name="m", versions=["1"], platform="fake")
    for described, tensors in ((message.inputs, inputs), (message.outputs, outputs)):
        for name, datatype, shape in tensors:
            described.add(name=name, datatype=datatype, shape=shape)
    return message


def answer(datatype="FP32", shape=(2, 3), raw=bytes(24), name="x"):
    message = pb.ModelInferResponse(model_name="m")
    message.outputs.add(name=name, datatype=datatype, shape=shape)
    message.raw_output_contents.append(raw)
    return message


def echo(request):
    """The request's input as the first output."""
    [tensor], [raw] = request.inputs, request.raw_input_contents
    return answer(tensor.datatype, tensor.shape, raw, tensor.name)


class Counted:
    """`infer` makes an answer of a request and a context. Counts what it is asked."""

    def __init__(self, infer, described, ready):
        self.infer, self.described, self.is_ready = infer, described or metadata(), ready
        self.inferred, self.headers = 0, {}
        self.changed = threading.Condition()

    def count(self, context):
        with self.changed:
            self.inferred += 1
            self.headers = dict(context.invocation_metadata())
            self.changed.notify_all()

    def await_inferred(self, n):
        with self.changed:
            assert self.changed.wait_for(lambda: self.inferred >= n, 60)


class Fake(Counted, service_pb2_grpc.GRPCInferenceServiceServicer):
    def __init__(self, infer=lambda request, context: echo(request), described=None, ready=True):
        super().__init__(infer, described, ready)
        self.server = grpc.server(futures.ThreadPoolExecutor(16), options=[("grpc.so_reuseport", 0), ("grpc.max_send_message_length", -1),
                                                                          ("grpc.max_receive_message_length", -1)])
        service_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(self, self.server)
        self.port = self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()

    def stop(self):
        self.server.stop(None).wait()

    def ServerLive(self, request, context):
        return pb.ServerLiveResponse(live=True)

    def ServerReady(self, request, context):
        return pb.ServerReadyResponse(ready=True)

    def ModelReady(self, request, context):
        return pb.ModelReadyResponse(ready=self.is_ready)

    def ModelMetadata(self, request, context):
        return self.described

    def ModelInfer(self, request, context):
        self.count(context)
        return self.infer(request, context)
