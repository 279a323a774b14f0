"""Clients of gRPC that attack a server, or do not care about it."""

import queue
import re
import signal
import threading

import grpc
import inference_pb2 as service_pb2
import inference_pb2_grpc as service_pb2_grpc

from command import WAIT
from server import KILLED, RUNNING, ServeTest, json_lines, until

CALLS = "/inference.GRPCInferenceService/"
BYTES = "in x u8 -1\n"


def request(model, raw, **more):
    message = service_pb2.ModelInferRequest(model_name=model, raw_input_contents=[raw], **more)
    message.inputs.add(name="x", datatype="UINT8", shape=[len(raw)])
    return message


class HostileTest(ServeTest):
    def connect(self, server, *options):
        """A connection of its own."""
        channel = grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}",
                                        options=[("grpc.use_local_subchannel_pool", 1), ("grpc.max_receive_message_length", -1), *options])
        self.addCleanup(channel.close)
        return channel

    def stub(self, server, *options):
        return service_pb2_grpc.GRPCInferenceServiceStub(self.connect(server, *options))

    def expect_error(self, code, text, call, *args, **more):
        with self.assertRaises(grpc.RpcError) as raised:
            call(*args, timeout=WAIT, **more)
        self.assertEqual(raised.exception.code(), code, raised.exception)
        self.assertIn(text, raised.exception.details())

    def expect_service(self, server):
        answer = self.stub(server).ModelInfer(request("m", b"ab"), timeout=WAIT)
        self.assertEqual(answer.raw_output_contents, [b"ab"])


class Messages(HostileTest):
    def test_what_is_no_request(self):
        server = self.serve(models={"m": BYTES})
        infer = self.connect(server).unary_unary(CALLS + "ModelInfer")
        for text, *messages in (
            ("more than 4096 inputs", b"\x2a\x07\x12\x05UINT8" * 4097),
            ("more than 4096 raw_input_contents", b"\x3a\x00" * 2**20),
            ("more than 4096 outputs", b"\x32\x00" * 2**20),
            ("more than 4096 contents", b"\x2a\x82\x80\x04" + b"\x2a\x00" * (2**15 + 1)),
            ("is not an inference request", b"\xff", b"\x2a\x7f", b"\x2a\x05\x2a\x7f", b"\x0a\x01\xff", b"\x3b" * 200),
        ):
            for message in messages:
                with self.subTest(message[:20]):
                    self.expect_error(grpc.StatusCode.INVALID_ARGUMENT, text, infer, message)
                    self.expect_service(server)

    def test_names_that_errors_would_repeat(self):
        server = self.serve(models={"m": BYTES})
        for message in (request("m" * 4097, b"a"), request("m", b"a", id="a" * 4097), request("m", b"a", model_version="1" * 4097)):
            self.expect_error(grpc.StatusCode.INVALID_ARGUMENT, "more than 4096 bytes", self.stub(server).ModelInfer, message)

    def test_unknown_parameters_are_ignored_and_logged_once(self):
        server = self.serve(models={"m": BYTES})
        message = request("m", b"ab")
        output = message.outputs.add(name="x")
        for part in (message, message.inputs[0], output):
            part.parameters["priority"].int64_param = 1
            part.parameters["no\nline" + "a" * 100_000 if part is message.inputs[0] else "none"].string_param = ""
        for _ in range(3):
            self.assertEqual(self.stub(server).ModelInfer(message, timeout=WAIT).raw_output_contents, [b"ab"])
        reported = sorted(re.findall(r"/v2: the field (\S+) of requests is ignored", self.log_of(server)))
        self.assertEqual(
            reported,
            sorted(
                [
                    "parameters.priority",
                    "parameters.none",
                    "inputs.parameters.priority",
                    r"inputs.parameters.no\x0aline" + "a" * 57,
                    "outputs.parameters.priority",
                    "outputs.parameters.none",
                ]
            ),
        )

    def test_shared_memory_is_refused(self):
        server = self.serve(models={"m": BYTES})
        for part in ("input", "output"):
            message = request("m", b"ab")
            of = message.inputs[0] if part == "input" else message.outputs.add(name="x")
            of.parameters["shared_memory_region"].string_param = "mine"
            self.expect_error(grpc.StatusCode.INVALID_ARGUMENT, f"{part} 'x': there is no shared memory here", self.stub(server).ModelInfer, message)

    def test_of_unknown_models_nothing_is_computed(self):
        server = self.serve(models={"m": BYTES})
        self.expect_error(grpc.StatusCode.NOT_FOUND, "there is no model 'no'", self.stub(server).ModelInfer, request("no", b"a"))

    def test_what_is_compressed(self):
        server = self.serve("--max-body", "1M", models={"m": BYTES})
        stub = self.stub(server)
        for compression in (grpc.Compression.Gzip, grpc.Compression.Deflate):
            answer = stub.ModelInfer(request("m", bytes(2**19)), timeout=WAIT, compression=compression)
            self.assertEqual(answer.raw_output_contents, [bytes(2**19)])
            [answer] = stub.ModelStreamInfer(iter([request("m", bytes(2**19))]), timeout=WAIT, compression=compression)
            self.assertEqual(answer.infer_response.raw_output_contents, [bytes(2**19)])
            name = service_pb2.ModelMetadataRequest(name="m", version=(1000 * " ") + "1")
            self.expect_error(grpc.StatusCode.NOT_FOUND, "no model 'm' version", stub.ModelMetadata, name, compression=compression)
            self.expect_error(grpc.StatusCode.RESOURCE_EXHAUSTED, "larger than 1048576 bytes", stub.ModelInfer, request("m", bytes(2**26)),
                              compression=compression)
            bomb = service_pb2.ModelMetadataRequest(name="m" * 2**26)
            self.expect_error(grpc.StatusCode.INVALID_ARGUMENT, "not a request of this call", stub.ModelMetadata, bomb, compression=compression)
        self.expect_service(server)
        until(lambda: server.held() == 0)

    def test_answers_about_calls(self):
        server = self.serve(models={"m": BYTES})
        self.stub(server).ModelInfer(request("m", b"ab"), timeout=WAIT)
        self.expect_error(grpc.StatusCode.NOT_FOUND, "no model 'no'", self.stub(server).ModelInfer, request("no", b"ab"))
        server.await_metrics('wasinn_serve_requests_total{protocol="grpc",path="ModelInfer",status="OK",model="m"} 1',
                             'wasinn_serve_requests_total{protocol="grpc",path="ModelInfer",status="NOT_FOUND"} 1', "wasinn_serve_grpc_calls 0")

    def test_a_message_larger_than_max_body_is_refused(self):
        server = self.serve("--max-body", "64K", models={"m": BYTES})
        self.expect_error(grpc.StatusCode.RESOURCE_EXHAUSTED, "larger than max", self.stub(server).ModelInfer, request("m", bytes(70_000)))
        self.expect_service(server)


class Memory(HostileTest):
    """The limit of memory for all requests and responses."""

    FULL = (grpc.StatusCode.RESOURCE_EXHAUSTED, "requests and responses have reached their limit of memory")

    def test_requests_and_answers(self):
        server = self.serve("--max-memory-in-flight", "8M", models={"m": BYTES, "large": BYTES + "outgrows 9000000\n"})
        for _ in range(4):
            self.expect_error(*self.FULL, self.stub(server).ModelInfer, request("m", bytes(5 << 20)))
            self.expect_error(*self.FULL, self.stub(server).ModelInfer, request("large", b"a"))
        self.stub(server).ModelInfer(request("m", bytes(2 << 20)), timeout=WAIT)

    def test_answers_about_a_model(self):
        lines = "".join(f"in x{i} f32 1\n" for i in range(2000))
        stub = self.stub(self.serve("--max-memory-in-flight", "24K", "--max-body", "24K", models={"m": lines}))
        self.expect_error(*self.FULL, stub.ModelMetadata, service_pb2.ModelMetadataRequest(name="m"))
        self.expect_error(*self.FULL, stub.ModelConfig, service_pb2.ModelConfigRequest(name="m"))

    LARGE = {"m": BYTES, "large": BYTES + "outgrows 100000\n", "huge": BYTES + "outgrows 4000000\n"}

    def ask_for_much(self, server, model):
        """A stream: it has a window, and a client that does not ask for the next answer does not open it."""
        stub = self.stub(server, ("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 16384))
        return stub.ModelStreamInfer(iter([request(model, b"a")]))

    def test_unread_answers_are_held_until_their_clients_leave(self):
        server = self.serve("--max-memory-in-flight", "8M", "--client-timeout", "1h", models=self.LARGE)
        streams = [self.ask_for_much(server, "large") for _ in range(50)]
        until(lambda: server.held() > (8 << 20) - 4_000_000)
        self.expect_error(*self.FULL, self.stub(server).ModelInfer, request("huge", b"a"))
        for stream in streams:
            stream.cancel()
        until(lambda: server.held() < 1_000_000)
        self.stub(server).ModelInfer(request("huge", b"a"), timeout=WAIT)

    def test_a_client_that_does_not_read_is_given_up(self):
        server = self.serve("--client-timeout", "200ms", "--access-log", "access.log", models=self.LARGE)
        stream = self.ask_for_much(server, "large")  # for whose bytes a client may take a second more
        until(lambda: json_lines(self.dir / "access.log"))
        self.assertEqual(self.end_of(stream), grpc.StatusCode.CANCELLED)

    def end_of(self, stream):
        try:
            list(stream)
        except grpc.RpcError:
            pass
        return stream.code()


class Calls(HostileTest):
    def test_requests_of_gone_clients_are_not_computed(self):
        server = self.serve("--max-waiting", "2", models={"m": BYTES + "turns 8\ngate g\n"})
        calls = [self.stub(server).ModelInfer.future(request("m", b"a")) for _ in range(2)]
        until((self.dir / "g.reached").exists)
        until(lambda: server.busy() == 2)
        with self.assertRaises(grpc.RpcError) as refused:
            self.stub(server).ModelInfer(request("m", b"a"), timeout=WAIT)
        self.assertEqual(refused.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        self.assertTrue(self.stub(server).ModelReady(service_pb2.ModelReadyRequest(name="m"), timeout=WAIT).ready)
        for call in calls:
            call.cancel()
        until(lambda: server.busy() == 0)
        server.await_metrics(f"{RUNNING} 0")

    def test_a_deadline_of_the_clients(self):
        server = self.serve(models={"m": BYTES + "turns 8\ngate g\n"})
        with self.assertRaises(grpc.RpcError) as raised:
            self.stub(server).ModelInfer(request("m", b"a"), timeout=0.1)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        server.await_metrics(f"{RUNNING} 0")

    def test_a_request_that_turns_out_slow_holds_up_no_other(self):
        """After computes that were quick, and so were made on gRPC's threads."""
        server = self.serve(models={"m": BYTES + "turns 64\nendless 9\n"})
        for _ in range(20):
            self.expect_service(server)
        calls = [self.stub(server).ModelInfer.future(request("m", b"\x09")) for _ in range(16)]
        until(lambda: f"{RUNNING} 0" not in server.metrics())
        self.assertTrue(self.stub(server).ServerLive(service_pb2.ServerLiveRequest(), timeout=WAIT).live)
        self.assertFalse(any(call.done() for call in calls))
        server.process.send_signal(signal.SIGTERM)
        self.assertIn(server.stop(signal.SIGINT), KILLED)

    def test_more_connections_than_may_be(self):
        server = self.serve("--max-connections", "2", models={"m": BYTES})
        channels = [self.connect(server) for _ in range(2)]
        for channel in channels:
            service_pb2_grpc.GRPCInferenceServiceStub(channel).ServerLive(service_pb2.ServerLiveRequest(), timeout=WAIT)
        self.expect_error(grpc.StatusCode.UNAVAILABLE, "", self.stub(server).ServerLive, service_pb2.ServerLiveRequest())
        channels[0].close()
        until(lambda: self.is_live(server))

    def is_live(self, server):
        try:
            return self.stub(server).ServerLive(service_pb2.ServerLiveRequest(), timeout=WAIT).live
        except grpc.RpcError:
            return False

    def test_the_end_waits_for_no_stream_that_rests(self):
        server = self.serve(models={"m": BYTES})
        requests = queue.SimpleQueue()
        requests.put(request("m", b"a"))
        stream = self.stub(server).ModelStreamInfer(iter(requests.get, None))
        self.assertEqual(next(stream).infer_response.raw_output_contents, [b"a"])
        server.process.terminate()
        self.addCleanup(requests.put, None)
        with self.assertRaises(grpc.RpcError) as raised:
            next(stream)
        self.assertEqual((raised.exception.code(), raised.exception.details()), (grpc.StatusCode.UNAVAILABLE, "the server is shutting down"))
        self.assertEqual(server.wait(), (0, ""))

    def test_the_end_ends_calls_that_watch_its_health(self):
        server = self.serve(models={"m": BYTES + "turns 8\ngate g\n"})
        call = self.stub(server).ModelInfer.future(request("m", b"a"))
        until((self.dir / "g.reached").exists)
        watch = self.connect(server).unary_stream("/grpc.health.v1.Health/Watch")(b"")
        self.assertEqual(next(watch), b"\x08\x01")
        server.process.terminate()
        with self.assertRaises(grpc.RpcError) as raised:
            for news in watch:
                self.assertEqual(news, b"\x08\x02")  # it serves no more, if that came before the end
        self.assertEqual(raised.exception.code(), grpc.StatusCode.UNAVAILABLE)
        self.assertFalse(call.done())
        (self.dir / "g").touch()
        self.assertEqual(call.result(timeout=WAIT).raw_output_contents, [b"a"])
        self.assertEqual(server.wait(), (0, ""))

    def test_the_end_answers_what_was_asked(self):
        server = self.serve(models={"m": BYTES + "turns 8\ngate g\n"})
        call = self.stub(server).ModelInfer.future(request("m", b"a"))
        until((self.dir / "g.reached").exists)
        server.process.terminate()
        ended = threading.Thread(target=lambda: self.assertEqual(server.wait(), (0, "")))
        ended.start()
        (self.dir / "g").touch()
        self.assertEqual(call.result(timeout=WAIT).raw_output_contents, [b"a"])
        ended.join()
