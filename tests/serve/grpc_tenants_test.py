"""Tenants' keys over gRPC."""

import queue
import signal

import grpc
import inference_pb2 as service_pb2
import inference_pb2_grpc as service_pb2_grpc

from command import WAIT
from configured import ConfiguredTest, tenant
from grpc_hostile_test import BYTES, request

KEY = (("authorization", "Bearer key of a"),)


class Keys(ConfiguredTest):
    def stub(self, text):
        return self.stub_of(self.serve_file(text, models={"m": BYTES, "n": BYTES}))

    def stub_of(self, server):
        channel = grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}")
        self.addCleanup(channel.close)
        return service_pb2_grpc.GRPCInferenceServiceStub(channel)

    def expect_error(self, code, call, message, metadata=()):
        with self.assertRaises(grpc.RpcError) as raised:
            answer = call(message, metadata=metadata, timeout=WAIT)
            if hasattr(answer, "__next__"):
                next(answer)
        self.assertEqual(raised.exception.code(), code, raised.exception)

    def test_all_calls_but_health_need_one(self):
        stub = self.stub(tenant("a", "operator = true"))
        ask = service_pb2
        for call in (stub.ServerLive, stub.ServerReady):
            kind = ask.ServerLiveRequest if call is stub.ServerLive else ask.ServerReadyRequest
            call(kind(), timeout=WAIT)
        for call, message in ((stub.ServerMetadata, ask.ServerMetadataRequest()), (stub.ModelReady, ask.ModelReadyRequest(name="m")),
                              (stub.ModelMetadata, ask.ModelMetadataRequest(name="m")), (stub.ModelConfig, ask.ModelConfigRequest(name="m")),
                              (stub.ModelStatistics, ask.ModelStatisticsRequest()), (stub.RepositoryIndex, ask.RepositoryIndexRequest()),
                              (stub.RepositoryModelLoad, ask.RepositoryModelLoadRequest(model_name="m")),
                              (stub.RepositoryModelUnload, ask.RepositoryModelUnloadRequest(model_name="n")),
                              (stub.ModelInfer, request("m", b"ab"))):
            for metadata in ((), (("authorization", "Bearer no"),), (("authorization", "key of a"),)):
                self.expect_error(grpc.StatusCode.UNAUTHENTICATED, call, message, metadata)
            call(message, metadata=KEY, timeout=WAIT)

    def test_streams(self):
        stub = self.stub(tenant("a"))
        self.expect_error(grpc.StatusCode.UNAUTHENTICATED, stub.ModelStreamInfer, iter([request("m", b"ab")]))
        [answer] = stub.ModelStreamInfer(iter([request("m", b"ab")]), metadata=KEY, timeout=WAIT)
        self.assertEqual(answer.infer_response.raw_output_contents, [b"ab"])

    def test_reflection(self):
        """ServerReflectionInfo, by its bytes: the questions are list_services and file_containing_symbol."""
        server = self.serve_file(tenant("a"), models={"m": BYTES})
        channel = grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}")
        self.addCleanup(channel.close)
        for version in ("v1", "v1alpha"):
            ask = channel.stream_stream(f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo")
            self.expect_error(grpc.StatusCode.UNAUTHENTICATED, ask, iter([b"\x3a\x00"]))
            symbols = (b"inference.GRPCInferenceService", b"inference.ModelInferRequest.InferInputTensor", b"no.Such")
            questions = [b"\x3a\x00", *(b"\x22" + bytes([len(one)]) + one for one in symbols), b"\x32\x01a"]
            services, service, message, none, other = ask(iter(questions), metadata=KEY, timeout=WAIT)
            for name in (b"inference.GRPCInferenceService", b"grpc.health.v1.Health", b"grpc.reflection.v1.ServerReflection"):
                self.assertIn(name, services)
            for described in (service, message):
                self.assertIn(service_pb2.DESCRIPTOR.serialized_pb, described)
            self.assertIn(b"\x3a\x21\x08\x05\x12\x1dthere is nothing of this name", none)
            self.assertIn(b"not answered here", other)
            self.expect_error(grpc.StatusCode.INVALID_ARGUMENT, ask, iter([b"\x22\x7f"]), KEY)
            self.expect_error(grpc.StatusCode.RESOURCE_EXHAUSTED, ask, iter([b"\x22" + bytes(5000)]), KEY)
        self.expect_error(grpc.StatusCode.UNIMPLEMENTED, channel.unary_unary("/no.Such/Call"), b"", KEY)

    def test_a_stream_ends_with_its_configuration(self):
        server = self.serve_file(tenant("a"), models={"m": BYTES})
        stub = self.stub_of(server)
        asked = queue.Queue()
        asked.put(request("m", b"ab"))
        stream = stub.ModelStreamInfer(iter(asked.get, None), metadata=KEY, timeout=WAIT)
        next(stream)
        self.configure(tenant("b"))
        server.process.send_signal(signal.SIGHUP)
        server.await_line("configuration: read again")
        asked.put(request("m", b"ab"))
        with self.assertRaises(grpc.RpcError) as raised:
            next(stream)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.UNAVAILABLE)
        asked.put(None)

    def test_health_is_reported_even_with_too_many_calls(self):
        server = self.serve_file(tenant("a"), "--max-connections", "4", models={"m": BYTES})
        stub, asked = self.stub_of(server), queue.Queue()
        self.addCleanup(asked.put, None)
        streams = [stub.ModelStreamInfer(iter(asked.get, None), metadata=KEY, timeout=WAIT) for _ in range(8)]
        stub.ServerLive(service_pb2.ServerLiveRequest(), timeout=WAIT)
        for stream in streams:
            stream.cancel()

    def test_each_sees_its_models_alone(self):
        stub = self.stub(tenant("a", "[tenants.a.policy]\nmodels = ['m']"))
        index = stub.RepositoryIndex(service_pb2.RepositoryIndexRequest(), metadata=KEY, timeout=WAIT)
        self.assertEqual([model.name for model in index.models], ["m"])
        self.expect_error(grpc.StatusCode.NOT_FOUND, stub.ModelInfer, request("n", b"ab"), KEY)
        self.expect_error(grpc.StatusCode.PERMISSION_DENIED, stub.RepositoryModelUnload, service_pb2.RepositoryModelUnloadRequest(model_name="m"), KEY)

    def test_what_a_route_alone_may_have_no_call_has(self):
        server = self.serve_file("policy.models = ['m']\n", models={"m": BYTES, "inner": BYTES})
        stub = self.stub_of(server)
        index = stub.RepositoryIndex(service_pb2.RepositoryIndexRequest(), timeout=WAIT)
        self.assertEqual([model.name for model in index.models], ["m"])
        for call, message in ((stub.ModelInfer, request("inner", b"ab")), (stub.ModelMetadata, service_pb2.ModelMetadataRequest(name="inner")),
                              (stub.ModelConfig, service_pb2.ModelConfigRequest(name="inner")),
                              (stub.ModelReady, service_pb2.ModelReadyRequest(name="inner")),
                              (stub.ModelStatistics, service_pb2.ModelStatisticsRequest(name="inner")),
                              (stub.RepositoryModelLoad, service_pb2.RepositoryModelLoadRequest(model_name="inner")),
                              (stub.RepositoryModelUnload, service_pb2.RepositoryModelUnloadRequest(model_name="inner"))):
            self.expect_error(grpc.StatusCode.NOT_FOUND, call, message, ())
        all_of = stub.ModelStatistics(service_pb2.ModelStatisticsRequest(), timeout=WAIT)
        self.assertNotIn("inner", [model.name for model in all_of.model_stats])

    def test_a_call_more_than_max_requests_is_refused(self):
        stub = self.stub(tenant("a", "max_requests = 1"))
        asked = queue.Queue()
        asked.put(request("m", b"ab"))
        stream = stub.ModelStreamInfer(iter(asked.get, None), metadata=KEY, timeout=WAIT)
        next(stream)
        self.expect_error(grpc.StatusCode.RESOURCE_EXHAUSTED, stub.ModelInfer, request("m", b"ab"), KEY)
        asked.put(None)
        self.assertEqual(list(stream), [])
