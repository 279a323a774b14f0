"""A request's body, and an answer, by wasi:http."""

from componentize_py_types import Err, Ok
from wit_world.imports.streams import StreamError_Closed
from wit_world.imports.types import Fields, OutgoingBody, OutgoingResponse, ResponseOutparam

MOST = 4096  # bytes that a stream takes at once


def read(request):
    body = b""
    with request.consume() as incoming, incoming.stream() as stream:
        while True:
            try:
                body += stream.blocking_read(1 << 16)
            except Err as error:
                if isinstance(error.value, StreamError_Closed):
                    return body
                raise


def answer(out, status, content_type, body):
    response = OutgoingResponse(Fields.from_list([("Content-Type", content_type.encode())]))
    response.set_status_code(status)
    outgoing = response.body()
    ResponseOutparam.set(out, Ok(response))
    with outgoing.write() as stream:
        for begin in range(0, len(body), MOST):
            stream.blocking_write_and_flush(body[begin : begin + MOST])
    OutgoingBody.finish(outgoing, None)
