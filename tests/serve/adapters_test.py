"""GET /v1/models: what clients read of a model, and adapters (LoRA), which are models by their names. And what asks how the server is."""

import random
import struct

from configured import key, tenant
from language import MODELS, LanguageTest


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def adapter(seed):
    """A GGUF file with an adapter for one matrix of tiny.gguf."""
    strings = {"general.architecture": "llama", "general.type": "adapter", "adapter.type": "lora"}
    keys = b"".join(text(name) + struct.pack("<I", 8) + text(value) for name, value in strings.items())
    keys += text("adapter.lora.alpha") + struct.pack("<If", 6, 4.0)
    tensors = data = b""
    numbers = random.Random(seed)
    for name, shape in (("lora_a", (128, 4)), ("lora_b", (4, 128))):
        tensors += text(f"blk.0.attn_q.weight.{name}") + struct.pack("<IQQIQ", 2, *shape, 0, len(data))
        data += struct.pack("<512f", *(numbers.gauss(0, 1) for _ in range(512)))
    head = b"GGUF" + struct.pack("<IQQ", 3, 2, len(strings) + 1) + keys + tensors
    return head + bytes(-len(head) % 32) + data


class Models(LanguageTest):
    def serve_adapters(self, config=""):
        for seed, name in enumerate(("style", "tone")):
            (self.dir / f"{name}.gguf").write_bytes(adapter(seed))
        loras = ", ".join(f'{name} = "{self.dir}/{name}.gguf"' for name in ("style", "tone"))
        text = f'[models.base]\npath = "{MODELS}/tiny.gguf"\n[models.base.config]\nparallel = 2\nctx-size = 256\nloras = {{{loras}}}\n{config}'
        return self.serve("--config", self.file("loras.toml", text))

    def complete(self, server, model="base", **fields):
        answer = self.ask(server, "completions", model=model, prompt="GNU General", temperature=0, max_tokens=12, **fields)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()

    def test_an_adapter_is_a_model(self):
        server = self.serve_adapters()
        plain, styled, toned = (self.complete(server, name)["choices"][0]["text"] for name in ("base", "style", "tone"))
        self.assertEqual(len({plain, styled, toned}), 3)
        self.assertEqual(self.complete(server, "style")["model"], "style")
        self.assertEqual(self.complete(server, lora="style")["choices"][0]["text"], styled)
        self.assertEqual(self.complete(server, lora=[{"name": "style", "scale": 0}])["choices"][0]["text"], plain)
        self.assertEqual(self.complete(server)["choices"][0]["text"], plain)
        for fields in ({"model": "style", "lora": "tone"}, {"lora": "no"}, {"lora": [{"id": 0, "scale": 1}]}, {"lora": "tone", "model": "style"}):
            answer = self.ask(server, "completions", **{"model": "base", "prompt": "a", **fields})
            self.assertEqual((answer.status, "lora" in answer.json()["error"]["message"]), (400, True), answer)
        listed = {one["id"]: one for one in server.request("GET", "/v1/models").json()["data"]}
        self.assertEqual({name: (one["root"], one["parent"], one["max_model_len"]) for name, one in listed.items()},
                         {"base": ("base", None, 256), "style": ("base", "base", 256), "tone": ("base", "base", 256)})
        self.assertEqual(server.request("GET", "/v1/models/style").json(), listed["style"])

    def test_an_adapter_is_its_models_tenants_alone(self):
        server = self.serve_adapters(tenant("a", 'policy.models = ["base"]') + tenant("b", 'policy.models = []'))
        self.assertEqual(self.ask(server, "completions", key("a"), model="style", prompt="a", max_tokens=1).status, 200)
        self.expect_error(self.ask(server, "completions", key("b"), model="style", prompt="a"), 404, "no model 'style'", "model", "model_not_found")
        self.assertEqual(server.request("GET", "/v1/models", headers=key("b")).json()["data"], [])

    def test_what_a_model_says_before_it_is_loaded(self):
        server = self.serve_tiny()
        [tiny] = [one for one in server.request("GET", "/v1/models").json()["data"] if one["id"] == "tiny"]
        self.assertEqual(set(tiny), {"id", "object", "created", "owned_by", "root", "parent"})
        self.complete(server, "tiny")
        self.assertEqual(server.request("GET", "/v1/models/tiny").json(), {**tiny, "max_model_len": 512})


class Health(LanguageTest):
    def test_at_the_root(self):
        server = self.serve("--model", f"tiny={MODELS}/tiny.gguf")
        for path in ("/health", "/ping"):
            self.assertEqual(server.request("GET", path).status, 200)
            self.assertEqual(server.request("POST", path, "{}").status, 405)
        self.assertEqual(server.request("GET", "/version").json(), {"version": server.request("GET", "/v2").json()["version"]})

    def test_with_tenants(self):
        """Any client may see whether it serves, and clients with a key what it is."""
        server = self.serve_tiny(config=tenant("a"))
        self.assertEqual([server.request("GET", path).status for path in ("/health", "/ping", "/version", "/v1/models")], [200, 200, 401, 401])
        self.assertEqual(server.request("GET", "/version", headers=key("a")).status, 200)
