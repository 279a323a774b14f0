"""Sandboxed guests on every node of a Ray cluster: a Ray Serve deployment, with one replica on each node.

A replica starts one `wasinn serve` and forwards requests to it. So a node has each model once, however many guests use
it, and each request has a guest in a separate instance. Answers of wasinn go to the client unchanged: 429 with
Retry-After if a node has too much to do, 502 if a guest failed."""

import os
import shutil
import subprocess
import urllib.parse

import aiohttp
import ray
from ray import serve
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

# Headers of one connection, which are not passed on (RFC 9110). aiohttp writes its own.
NOT_PASSED_ON = {
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}


def command() -> str:
    """The program `wasinn`, from WASINN or PATH; wasinn-serve is in the same folder."""
    found = os.environ.get("WASINN") or shutil.which("wasinn")
    if found is None:
        raise RuntimeError(
            "there is no wasinn on this node: install a package that has `wasinn serve`, or set WASINN to the program"
        )
    return found


def passed_on(headers) -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers.items() if name.lower() not in NOT_PASSED_ON]


@serve.deployment(max_replicas_per_node=1)
class Guests:
    """`models` are files by name, `routes` are files by path, `flags` are flags of `wasinn serve`: `--timeout=1s`."""

    def __init__(self, models: dict[str, str], routes: dict[str, str], flags: list[str] | None = None):
        words = [f"--model={name}={file}" for name, file in models.items()] + [
            f"--route={path}={file}" for path, file in routes.items()
        ]
        # It ends with this process, even if that is killed.
        start = ["setpriv", "--pdeathsig", "TERM", command(), "serve", "--http-port=0", "--no-metrics", "--no-page"]
        self.process = subprocess.Popen([*start, *words, *(flags or [])], stdout=subprocess.PIPE)
        line = self.process.stdout.readline().decode()  # "serving HTTP on 127.0.0.1:PORT", once it does
        if not line:
            raise RuntimeError(f"wasinn serve does not start: exit code {self.process.wait()}; its log says why")
        # Without limits and deadlines, because wasinn has them.
        self.session = aiohttp.ClientSession(
            f"http://127.0.0.1:{int(line.rpartition(':')[2])}",
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=None),
            auto_decompress=False,
        )
        self.node = ray.get_runtime_context().get_node_id()

    async def __call__(self, request: Request) -> Response:
        target = urllib.parse.quote(request.scope["path"]) + (f"?{request.url.query}" if request.url.query else "")
        try:
            async with self.session.request(
                request.method,
                target,
                data=await request.body(),
                headers=passed_on(request.headers),
                allow_redirects=False,
            ) as answer:
                response = Response(await answer.read(), answer.status)
        except aiohttp.ClientConnectionError as error:
            return JSONResponse({"error": f"wasinn serve of this node is gone: {error}"}, 503, {"Retry-After": "1"})
        response.raw_headers += [(name.lower().encode(), value.encode()) for name, value in passed_on(answer.headers)]
        response.headers["x-ray-node"] = self.node
        return response

    def check_health(self):
        """Ray calls this repeatedly, and replaces a replica that raises."""
        if (code := self.process.poll()) is not None:
            raise RuntimeError(f"wasinn serve has ended: exit code {code}")

    def __del__(self):
        """Ray calls this once all running requests are answered."""
        if hasattr(self, "process"):
            self.process.terminate()


def app(args: dict) -> serve.Application:
    """Makes the application, for `serve run guests:app` and for a file of `serve deploy`.

    `models`, `routes` and `flags` are as above. `processors` are those of a node: a replica takes all of them, so that
    Ray's autoscaler adds a machine for the next replica. `autoscaling` has Ray's own keys."""
    processors = int(args.get("processors", 1))
    guests_at_once = 8 * processors  # the default of wasinn serve
    # Another node joins before guests wait for each other.
    autoscaling = {
        "min_replicas": 1,
        "max_replicas": 1,
        "target_ongoing_requests": guests_at_once / 2,
        **args.get("autoscaling", {}),
    }
    return Guests.options(
        ray_actor_options={"num_cpus": processors},
        autoscaling_config=autoscaling,
        # If all nodes are busy, requests wait in Ray's proxies. If their queue is full, the client gets 429, like from
        # wasinn.
        max_ongoing_requests=2 * guests_at_once,
        max_queued_requests=int(args.get("max_queued_requests", 1024)),
        backpressure_config={"status_code": 429, "retry_after_s": 1},
        health_check_period_s=2,
        health_check_timeout_s=10,
        graceful_shutdown_timeout_s=35,  # wasinn's deadline of a guest, and a little
    ).bind(args["models"], args["routes"], args.get("flags", []))
