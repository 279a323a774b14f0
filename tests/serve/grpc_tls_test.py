"""The access log and traces over gRPC, with TLS and gRPC's own client."""

import grpc
import inference_pb2 as pb
import inference_pb2_grpc as service_pb2_grpc

from access_log_test import PARENT, SPAN, TRACE
from server import json_lines, until
from tls_test import TlsTest


def infer(model="m"):
    request = pb.ModelInferRequest(model_name=model)
    tensor = request.inputs.add(name="x", datatype="FP32", shape=[1])
    tensor.contents.fp32_contents.append(5)
    return request


class Log(TlsTest):
    def channel(self, server):
        channel = grpc.secure_channel(f"127.0.0.1:{server.grpc_port}", grpc.ssl_channel_credentials(self.authority.pem.read_bytes()))
        self.addCleanup(channel.close)
        return service_pb2_grpc.GRPCInferenceServiceStub(channel)

    def lines(self, n):
        return until(lambda: len(answer := json_lines(self.dir / "access.log")) >= n and answer)

    def test_calls(self):
        server = self.serve_tls("--access-log", "access.log")
        stub = self.channel(server)
        stub.ModelReady(pb.ModelReadyRequest(name="m"))
        self.lines(1)
        stub.ModelInfer(infer())
        self.lines(2)
        with self.assertRaises(grpc.RpcError):
            stub.ModelInfer(infer("none" * 1000))
        self.lines(3)
        list(stub.ModelStreamInfer(iter([infer()] * 3)))
        lines = self.lines(4)
        answer = [
            (line["protocol"], line["method"], line["status"], line["model"][:5], line.get("messages"))
            for line in lines
        ]
        self.assertEqual(answer, [("gRPC", "ModelReady", 0, "m", None), ("gRPC", "ModelInfer", 0, "m", None),
                                ("gRPC", "ModelInfer", 5, "noneN"[:4] + "n", None), ("gRPC", "ModelStreamInfer", 0, "m", 3)])
        self.assertTrue(all(line["bytes_in"] > 0 and line["user_agent"].startswith("grpc-python") for line in lines), lines)
        self.assertEqual(lines[1]["target"], "/inference.GRPCInferenceService/ModelInfer")
        self.assertLess(len(lines[2]["model"]), 300)
        self.assertRegex(lines[0]["peer"], r"^ipv4:127\.0\.0\.1")

    def test_traces(self):
        server = self.serve_tls("--access-log", "access.log")
        stub = self.channel(server)
        for sent, continued in ((PARENT, True), (PARENT.upper(), False)):
            _, call = stub.ServerLive.with_call(pb.ServerLiveRequest(), metadata=[("traceparent", sent)])
            answer = dict(call.initial_metadata()).get("traceparent")
            line = self.lines(2 - continued)[-1]
            self.assertEqual(answer, f"00-{TRACE}-{line['span_id']}-01" if continued else None)
            self.assertEqual(line.get("parent_id"), SPAN if continued else None)

    def test_a_call_that_its_client_cancels(self):
        server = self.serve_tls("--access-log", "access.log", how="turns 8\ndelay 60000\n")
        call = self.channel(server).ModelInfer.future(infer())
        server.await_metrics("wasinn_inferences_running 1")
        call.cancel()
        line = until(lambda: [line for line in self.lines(1) if line["protocol"] == "gRPC"])[0]
        self.assertEqual((line["status"], line["complete"]), (1, False))
