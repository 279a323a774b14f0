"""Images and sounds in messages: over /v1, and from a guest that an engine runs."""

import base64
import json
import os
import pathlib
import struct
import zlib

from command import SANITIZED
from language import MODELS, TEST_MODELS, LanguageTest
from language_test import events

PROJECTORS = f"{TEST_MODELS}/projector"
CHAT_GUEST = pathlib.Path(os.environ["WASINN_PROBE"]).with_name("chat.wasm")


def png(seed, side=32):
    """A picture of one kind, another one for each seed."""
    rows = b"".join(b"\0" + bytes((x * (3 + seed) + y * 5 + part * 80) % 256 for x in range(side) for part in range(3)) for y in range(side))

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def wav(seconds=1, rate=16000):
    samples = b"".join(struct.pack("<h", i * (i // 500 + 3) % 20000 - 10000) for i in range(int(seconds * rate)))
    return struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(samples), b"WAVE", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16, b"data", len(samples)) + samples


def url(file, kind="image/png"):
    return f"data:{kind};base64,{base64.b64encode(file).decode()}"


def image(file):
    return {"type": "image_url", "image_url": {"url": url(file), "detail": "low"}}


def text(words):
    return {"type": "text", "text": words}


class MediaTest(LanguageTest):
    def setUp(self):
        super().setUp()
        config = "[limits]\ncompute_timeout_ms = 60000\n"
        for name, projector in (("sees", "see"), ("hears", "hear")):
            config += f"""
[models.{name}]
path = "{MODELS}/tiny.gguf"
[models.{name}.config]
projector = "{PROJECTORS}/{projector}.gguf"
threads = 1
"""
        self.config = self.file("media.toml", config)
        self.server = self.serve_tiny(config=config)

    def chat(self, *content, model="sees", **fields):
        messages = [{"role": "user", "content": list(content)}]
        return self.ask(self.server, "chat/completions", model=model, messages=messages, temperature=0, max_tokens=16, **fields)

    def said(self, *content, **fields):
        answer = self.chat(*content, **fields)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()["choices"][0]["message"]["content"]


class Media(MediaTest):
    def test_an_image_is_seen(self):
        def see(seed, side):
            return self.said(text("Look: "), image(png(seed, side)), text(" What is it?"))

        answers = [see(seed, side) for seed, side in ((1, 32), (3, 32), (3, 64))]
        self.assertEqual(len(set(answers)), 3, answers)
        self.assertEqual(see(1, 32), answers[0])
        tokens = [self.chat(*content).json()["usage"]["prompt_tokens"] for content in ([text("Look.")], [text("Look."), image(png(0))])]
        self.assertEqual(tokens[1] - tokens[0], 16)

    def test_as_a_stream(self):
        whole = self.said(text("Look."), image(png(1)))
        *reported, done = events(self.chat(text("Look."), image(png(1)), stream=True))
        self.assertIsNone(done)
        self.assertEqual("".join(one["choices"][0]["delta"].get("content") or "" for one in reported), whole)

    def test_a_response(self):
        content = [{"type": "input_text", "text": "Look."}, {"type": "input_image", "image_url": url(png(1))}]
        answer = self.ask(self.server, "responses", model="sees", input=[{"role": "user", "content": content}], temperature=0, max_output_tokens=16)
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(answer.json()["output"][0]["content"][0]["text"], self.said(text("Look."), image(png(1))))
        content[1] = {"type": "input_image", "file_id": "file-1"}
        answer = self.ask(self.server, "responses", model="sees", input=[{"role": "user", "content": content}])
        self.expect_error(answer, 400, "image_url", param="input")

    def test_a_sound_is_heard(self):
        sound = {"type": "input_audio", "input_audio": {"data": base64.b64encode(wav()).decode(), "format": "wav"}}
        tokens = self.chat(text("Listen."), sound, model="hears").json()["usage"]["prompt_tokens"]
        self.assertGreater(tokens, 47, "those of the sound, and those of the text")
        self.expect_error(self.chat(sound), 400, "accepts no sounds")
        self.expect_error(self.chat(image(png(1)), model="hears"), 400, "accepts no images")

    def test_nothing_is_fetched(self):
        for address in ("https://example.org/a.png", f"http://127.0.0.1:{self.server.port}/wasinn/state", "file:///etc/passwd", "/etc/passwd"):
            answer = self.chat({"type": "image_url", "image_url": {"url": address}})
            self.expect_error(answer, 400, "nothing is fetched from the network or from files")

    def test_what_is_no_image(self):
        self.expect_error(self.chat({"type": "image_url", "image_url": {"url": url(b"GIF89a")}}), 400, "image 1")
        self.expect_error(self.chat({"type": "image_url", "image_url": {"url": "data:image/png;base64,*"}}), 400, "base64")
        self.expect_error(self.chat(image(png(1)), model="tiny"), 400, "it has no projector")

    def test_a_guest_sees_what_a_client_does(self):
        prompt = f'Look: <img src="{url(png(0))}"> What is it?'
        asked = self.ask(self.server, "completions", model="sees", prompt=prompt, temperature=0, max_tokens=16)
        self.assertEqual(asked.status, 200, asked)
        ran = self.run_guest(prompt)
        said = asked.json()["choices"][0]["text"]
        self.assertNotEqual(said, "")
        self.assertEqual(ran.out.rstrip("\n"), (prompt + said).rstrip("\n"))  # it begins with the prompt

    def run_guest(self, prompt):
        ran = self.wasinn("run", "--config", self.config, CHAT_GUEST, "--model", "sees", "--temp", "0", "--n-predict", "16", prompt)
        self.check(ran)
        return ran


if not SANITIZED:  # whose memory a worker's wall has no place for

    class Isolated(LanguageTest):
        def test_no_file_but_the_models_is_opened_by_a_worker(self):
            file = f"{MODELS}/tiny.gguf"
            for key, named in (("projector", f'"{file}"'), ("draft", f'"{file}"'), ("loras", f'{{a = "{file}"}}')):
                config = f'[models.apart]\npath = "{MODELS}/tiny.gguf"\nisolate = true\n[models.apart.config]\n{key} = {named}\n'
                server = self.serve("--config", self.file(f"{key}.toml", config))
                answer = self.ask(server, "completions", model="apart", prompt="GNU", max_tokens=1)
                error = self.expect_error(answer, 503, f"model 'apart:1': {key}: ", param="model")
                self.assertIn("(a model with isolate = true runs in a worker, which opens no file but the model's)", error["message"])
                self.assertIn(f"model 'apart:1' cannot be loaded: {key}: ", self.log_of(server))


class ChatGuest(MediaTest):
    """The example chat prints the same as a client of /v1."""

    def converse(self, *options, model="sees", tokens=16, question="What is it?"):
        ran = self.wasinn("run", "--config", self.config, "--model", f"tiny={MODELS}/tiny.gguf", "--dir", f"{self.dir}::.", CHAT_GUEST, "--model", model, "--temp", "0",
                          "--n-predict", str(tokens), *options, input=question.encode() + b"\n")
        self.check(ran)
        return ran.out.rstrip("\n")

    def test_it_shows_images(self):
        (self.dir / "a.png").write_bytes(png(1))
        (self.dir / "b.png").write_bytes(png(3))
        self.assertEqual(self.converse("--image", "a.png"), self.said(image(png(1)), text("What is it?")))
        self.assertEqual(self.converse("--image", "a.png", "--image", "b.png"), self.said(image(png(1)), image(png(3)), text("What is it?")))

    def test_it_plays_sounds(self):
        (self.dir / "a.wav").write_bytes(wav())
        sound = {"type": "input_audio", "input_audio": {"data": base64.b64encode(wav()).decode(), "format": "wav"}}
        self.assertEqual(self.converse("--sound", "a.wav", model="hears"), self.said(sound, text("What is it?"), model="hears"))
        ran = self.wasinn("run", "--model", f"tiny={MODELS}/tiny.gguf", CHAT_GUEST, "--sound", "no.wav")
        self.assertEqual((ran.code, ran.out), (2, ""), ran)
        self.assertIn("chat: no.wav: ", ran.err)

    def test_it_shows_nothing_that_is_no_file(self):
        ran = self.wasinn("run", "--model", f"tiny={MODELS}/tiny.gguf", "--dir", f"{self.dir}::.", CHAT_GUEST, "--image", ".")
        self.assertEqual((ran.code, ran.out), (2, ""), ran)
        self.assertIn("chat: .: ", ran.err)

    def test_a_prompt_that_goes_on_has_no_images(self):
        (self.dir / "a.png").write_bytes(png(1))
        ran = self.wasinn("run", "--config", self.config, "--dir", f"{self.dir}::.", CHAT_GUEST, "--model", "sees", "--image", "a.png", "What is it?")
        self.assertEqual((ran.code, ran.out), (2, ""), ran)
        self.assertIn("chat: there is a PROMPT beside --image or --sound", ran.err)

    def test_it_prints_the_model_first(self):
        messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is it?"}]
        answer = self.ask(self.server, "chat/completions", model="tiny", messages=messages, temperature=0, max_tokens=16)
        self.assertEqual(self.converse("--system", "Be brief.", model="tiny"), answer.json()["choices"][0]["message"]["content"].rstrip("\n"))

    def test_the_answer_is_as_the_schema_has_it(self):
        said = self.converse("--json-schema", '{"enum": ["yes", "no"]}', model="tiny")
        self.assertIn(json.loads(said), ("yes", "no"))
