"""The page for operators, as a browser shows it: Chromium without a window. With WASINN_SCREENSHOT=FILE.png it leaves a picture of the page."""

import json
import os
import pathlib
import struct
import tempfile
import unittest
import wave
import zlib

from command import ECHO, PROBE
from configured import ConfiguredTest, tenant
from http_server import Handler, HttpServer
from server import BODY, MODEL, until
from webdriver import CHROMIUM, DRIVER, Browser

HOSTILE = "<img src=x onerror=window.hacked=1>"
ENTER, TAB = "\uE007", "\uE004"
IMAGE, SOUND = "fieldset input[accept='image/*']", "fieldset input[accept='audio/*']"
HAS_FORM = "return document.querySelector('#try-inputs fieldset') !== null"
KIND, DATATYPE = "fieldset label:nth-of-type(1) select", "fieldset label:nth-of-type(2) select"


def png(rows):
    """A PNG of pixels (r, g, b)."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    size = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 2, 0, 0, 0)
    data = b"".join(b"\0" + b"".join(map(bytes, row)) for row in rows)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


@unittest.skipUnless(CHROMIUM and DRIVER, "there is no chromium or no chromedriver: scripts/deps.sh serve-tests installs them")
class BrowserTest(ConfiguredTest):
    @classmethod
    def setUpClass(cls):
        """One browser for all of them: each has servers of its own, and so origins."""
        folder = tempfile.TemporaryDirectory(prefix="wasinn-browser-", ignore_cleanup_errors=True)
        cls.addClassCleanup(folder.cleanup)
        cls.browser = Browser(pathlib.Path(folder.name))
        cls.addClassCleanup(cls.browser.close)

    def tearDown(self):
        """Before the servers end, which the page would show."""
        self.browser.open("about:blank")
        self.browser.log()
        super().tearDown()

    def show(self, server, port=None):
        self.browser.open(f"http://127.0.0.1:{port or server.port}/")

    def show_form(self, server):
        self.show(server)
        self.browser.until(HAS_FORM)

    def infer(self):
        """The texts of its outputs."""
        self.browser.run("document.getElementById('try-outputs').replaceChildren()")
        self.browser.click("#try-send")
        self.browser.until("return document.querySelector('.output') ?? document.querySelector('#try-status.bad') !== null")
        self.assertEqual(self.browser.run("return document.getElementById('try-status').className"), "", self.browser.text("#try-status"))
        return self.browser.run("return [...document.querySelectorAll('.output')].map((one) => one.textContent)")

    def values(self):
        self.infer()
        return [float(value) for value in self.browser.text(".output pre").split(", ")]

    def expect_quiet(self):
        """Nothing on the console: no error, and nothing that the policy refused."""
        self.assertEqual(self.browser.log(), [])

    def serve_folder(self, answer):
        """A server of Python's, which has `answer(handler)` answer. Its port."""
        server = HttpServer(type("Answering", (Handler,), {"do_GET": answer, "do_POST": answer}))
        self.addCleanup(server.stop)
        return server.server_port


class Shown(BrowserTest):
    def row(self, selector):
        return self.browser.run("return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)", selector)

    def test_models_and_load(self):
        server = self.serve(models={"m": MODEL, "other": MODEL})
        self.show_form(server)
        self.assertEqual(self.row("#models tbody tr td:first-child"), ["m", "other"])
        self.browser.until("return document.querySelector('#models td:nth-child(3)').textContent === 'loaded'")  # for its form
        self.assertEqual(self.row("#models tbody tr:first-child td")[3:8], ["echo_ggml", "x: FP32 [1]", "x: FP32 [1]", "0", "0"])
        self.assertEqual(server.infer("m", BODY).status, 200)
        self.browser.until("return document.querySelector('#models td:nth-child(7)').textContent === '1'")  # by itself
        self.assertIn(" ms", self.row("#models tbody tr:first-child td")[8])
        self.assertIn("Memory in flight", self.browser.text("#load"))
        self.assertTrue(self.browser.run("return document.getElementById('routes-section').hidden"))
        self.expect_quiet()

    def test_hostile_names_are_texts(self):
        path = self.file("model.gguf", "GGUF\nin <img/src=x/onerror=window.hacked=2> f32 2\n")
        self.file("echo.toml", f"backend_dirs = ['{ECHO}']\n[models.{json.dumps(HOSTILE)}]\npath = '{self.dir / path}'\n")
        server = self.serve()
        self.show_form(server)
        self.browser.until("return document.querySelector('#models td code')")
        self.assertEqual(self.browser.text("#models td"), HOSTILE)
        self.assertEqual(self.browser.text("#try-model option"), HOSTILE)
        self.assertIn("<img/src=x/onerror=window.hacked=2>: FP32", self.browser.text("#models td code"))
        self.browser.type("fieldset label:not([hidden]) > textarea[rows='3']", "1 2")
        self.assertIn("<img/src=x/onerror=window.hacked=2>", self.infer()[0])
        self.assertEqual(self.browser.run("return [document.images.length, window.hacked ?? null]"), [1, None])
        self.expect_quiet()

    def test_a_narrow_window_and_labels(self):
        server = self.serve(models={"m": "in x f32 1,3,-1,-1\n"})
        self.show_form(server)
        for kind in ("an image", "a sound", "a text", "numbers", "zeros"):
            self.browser.choose(KIND, kind)
            for width in (1280, 420, 320):
                self.browser.size(width, 900)
                self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width, kind)
            unnamed = "return [...document.querySelectorAll('input, select, textarea')].filter((one) => one.labels.length === 0).length"
            self.assertEqual(self.browser.run(unnamed), 0)
        self.expect_quiet()

    def test_the_keyboard_is_enough(self):
        server = self.serve(models={"m": "in x f32 2\n"})
        self.show_form(server)
        self.browser.type("fieldset label:not([hidden]) > textarea[rows='3']", "5 6")
        self.browser.run("document.getElementById('try-model').focus()")
        for _ in range(20):
            if self.browser.run("return document.activeElement.id") == "try-send":
                break
            self.press(TAB)
        self.press(ENTER)
        self.browser.until("return document.querySelector('.output')")

    def press(self, key):
        keys = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.browser.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": keys}]})

    def test_a_server_that_is_gone(self):
        server = self.serve(models={"m": MODEL})
        self.show_form(server)
        self.assertEqual(server.stop(), (0, ""))
        self.browser.until("return document.getElementById('server').textContent === 'no answer'")

    def test_a_key_is_asked_for_and_kept(self):
        server = self.serve(models={"m": MODEL})

        def answer(request):  # what stands before it wants a key
            body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
            is_let = request.headers["Authorization"] == "Bearer secret" or request.path.partition("/wasinn/")[2] not in ("state",)
            reported = server.request(request.command, request.path, body or None)
            request.send_response(reported.status if is_let else 401)
            data = reported.body if is_let else b'{"error": "a key is needed"}'
            for name in ("Content-Type", "Content-Security-Policy"):
                if name in reported.headers:
                    request.send_header(name, reported.headers[name])
            request.send_header("Content-Length", str(len(data)))
            request.end_headers()
            request.wfile.write(data)

        self.show(server, self.serve_folder(answer))
        self.browser.until("return !document.getElementById('key-form').hidden")
        self.assertIn("a key is needed", self.browser.until("return document.querySelector('#server.bad')?.textContent"))
        self.browser.type("#key", "secret" + ENTER)
        self.browser.until(HAS_FORM)
        self.assertEqual(self.browser.run("return [document.getElementById('key-form').hidden, document.getElementById('key').value]"), [True, ""])
        self.assertEqual(self.browser.run("return [Object.values(sessionStorage), localStorage.length, document.cookie]"), [["secret"], 0, ""])

    def test_a_key_that_may_not_see_it_leaves_the_field(self):
        server = self.serve("--config", self.configure(tenant("a") + tenant("b", "operator = true")), models={"m": MODEL})
        self.show(server)
        self.browser.until("return !document.getElementById('key-form').hidden")
        self.browser.type("#key", "key of a" + ENTER)
        self.browser.until("return document.querySelector('#server.bad')?.textContent.includes('403')")
        self.browser.until("return !document.getElementById('key-form').hidden")
        self.browser.type("#key", "key of b" + ENTER)
        self.browser.until(HAS_FORM)
        self.assertTrue(self.browser.run("return document.getElementById('key-form').hidden"))


class Tried(BrowserTest):
    def test_a_text(self):
        server = self.serve(models={"m": "in x u8 -1 opaque\n"})
        self.show_form(server)
        self.browser.type("fieldset textarea[rows='4']", "Grüße, <b>world</b>")
        [output] = self.infer()
        self.assertIn("BYTES [1]", output)
        self.assertEqual(self.browser.text(".output pre"), "Grüße, <b>world</b>")
        self.assertIn("Answered in", self.browser.text("#try-status"))
        self.expect_quiet()

    def sound(self, name, rate, frames, channels=1):
        path = self.dir / name
        with wave.open(str(path), "wb") as file:
            file.setparams((channels, 2, rate, 0, "NONE", ""))
            file.writeframes(struct.pack(f"<{len(frames)}h", *frames))
        return path

    def test_a_sound(self):
        server = self.serve(models={"m": "in x f32 1,-1\n", "short": "in x f32 400\n", "whole": "in x i16 1,-1\n"})
        self.show_form(server)
        self.browser.type(SOUND, self.sound("a.wav", 16000, [16384, -8192, 4096, 0] * 100))
        self.expect_close(self.values_of_sound(), [0.5, -0.25, 0.125, 0] * 16)
        self.assertIn("FP32 [1, 400]", self.browser.text(".output h3"))
        # Two channels become one; and twice as many samples, where twice as many are asked for.
        self.browser.type(SOUND, self.sound("b.wav", 8000, [16384, -8192] * 300, 2))
        self.expect_close(self.values_of_sound()[-4:], [0.125] * 4, 0.01)  # its beginning has what the filter makes of it
        self.assertIn("FP32 [1, 600]", self.browser.text(".output h3"))
        # Cut off, or with silence behind.
        self.choose_model("short")
        self.browser.type(SOUND, self.sound("c.wav", 16000, [16384] * 3))
        self.expect_close(self.values_of_sound(), [0.5, 0.5, 0.5] + [0] * 61)
        self.assertIn("FP32 [400]", self.browser.text(".output h3"))
        # Numbers of 16 bits, as they were.
        self.choose_model("whole")
        self.browser.choose(KIND, "a sound")
        self.browser.type(SOUND, self.sound("d.wav", 16000, [16384, -8192, 4096, -32768]))
        # Browsers divide what is positive by 32767.
        self.expect_close(self.values_of_sound(), [16384, -8192, 4096, -32768], 1)
        self.expect_quiet()

    def values_of_sound(self):
        self.infer()
        shown = self.browser.text(".output pre").split(", and")[0].split(", ")
        return [float(value) for value in shown]

    def choose_model(self, name):
        self.browser.choose("#try-model", name)
        self.browser.until("return document.getElementById('try-status').textContent === ''")
        self.browser.until(HAS_FORM)

    def test_images_in_every_order(self):
        rows = [[(255, 0, 0), (0, 255, 0), (0, 0, 255)], [(10, 20, 30), (40, 50, 60), (255, 255, 255)]]
        path = self.dir / self.file("a.png", png(rows))
        flat = [value for row in rows for pixel in row for value in pixel]
        planes = [pixel[c] for c in range(3) for row in rows for pixel in row]
        server = self.serve(models={"m": "in x u8 1,2,3,3\n", "first": "in x f32 3,2,3\n", "gray": "in x f32 1,1,-1,-1\n"})
        self.show_form(server)
        self.choose_model("m")
        self.browser.type(IMAGE, path)
        self.assertEqual(self.values(), flat)
        self.choose_model("first")
        self.browser.type(IMAGE, path)
        self.expect_close(self.values(), [value / 255 for value in planes])
        self.browser.choose("fieldset label:nth-child(7) select", "-1 to 1")
        self.expect_close(self.values(), [value / 127.5 - 1 for value in planes])
        self.browser.choose("fieldset label:nth-child(7) select", "mean and deviation")
        means, deviations = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
        self.expect_close(self.values(), [(value / 255 - means[i // 6]) / deviations[i // 6] for i, value in enumerate(planes)])
        self.choose_model("gray")
        self.browser.type(IMAGE, path)
        self.browser.run("""for (const [place, value] of [[4, 3], [5, 2]]) {
            document.querySelector(`fieldset .row:nth-of-type(2) label:nth-child(${place}) input`).value = value; }""")
        self.expect_close(self.values()[:3], [0.299, 0.587, 0.114])
        self.expect_quiet()

    def expect_close(self, values, expected, delta=0.001):
        self.assertEqual(len(values), len(expected))
        for value, one in zip(values, expected):
            self.assertAlmostEqual(value, one, delta=delta)

    def test_numbers_of_every_type(self):
        types = ("bool", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "bf16", "f32", "f64")
        server = self.serve(models={f"m{word}": f"in x {word} 2,2\n" for word in types})
        self.show_form(server)
        for word in types:
            with self.subTest(word):
                self.choose_model("m" + word)
                self.browser.choose(KIND, "numbers")
                self.browser.type("fieldset textarea[rows='3']", "[1, 0], 1 1" if word == "bool" else "[5, 0], 7 100")
                texts = self.infer()
                expected = {"b": "true, false, true, true"}.get(word[0]) if word == "bool" else "5, 0, 7, 100"
                self.assertIn(expected, texts[0])
        self.choose_model("mi64")
        self.browser.choose(KIND, "zeros")
        self.assertEqual(self.values(), [0, 0, 0, 0])
        self.expect_quiet()

    def test_halves(self):
        """As they are rounded and written."""
        server = self.serve(models={"m": "in x f16 -1\n"})
        self.show_form(server)
        numbers = [1.5, -2, 65504, 1e6, 6e-8, 1e-9, 0.1, 1023.75, -0.00006]
        self.browser.choose(KIND, "numbers")
        self.browser.type("fieldset textarea[rows='3']", " ".join(map(str, numbers)))
        reported = self.browser.run("""const {toHalf, fromHalf} = await import("/wasinn/tensors.js");
            return arguments[0].map((one) => [toHalf(one), String(fromHalf(toHalf(one)))]);""", numbers)
        for number, (bits, back) in zip(numbers, reported):
            expected = struct.unpack("<H", struct.pack("<e", number))[0] if abs(number) < 65520 else 0x7C00
            self.assertEqual(bits, expected, number)
            self.assertEqual(float(back.replace("Infinity", "inf")), struct.unpack("<e", struct.pack("<H", bits))[0])
        self.infer()
        self.expect_quiet()

    def test_several_inputs_and_json(self):
        server = self.serve(models={"m": "in x f32 2\nin y i32 1\n"})
        self.show_form(server)
        self.assertEqual(self.browser.run("return document.querySelectorAll('#try-inputs fieldset').length"), 2)
        self.browser.choose("#try-mode", "the whole request as JSON")
        request = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [2], "data": [1.5, 2]},
                              {"name": "y", "datatype": "INT32", "shape": [1], "data": [7]}]}
        self.browser.run("document.getElementById('try-json').value = arguments[0]", json.dumps(request))
        first, second = self.infer()
        self.assertIn("1.5000", first)
        self.assertIn("INT32 [1]7", second)
        self.expect_quiet()

    def test_mistakes_are_shown(self):
        server = self.serve(models={"m": "in x f32 1,3,4,4\n"})
        self.show_form(server)
        junk = self.dir / self.file("junk.png", b"no image")

        def expect_error(text):
            self.browser.click("#try-send")
            self.browser.until("return document.querySelector('#try-status.bad')?.textContent.includes(arguments[0])", text)
        expect_error("x: choose an image")
        self.browser.type(IMAGE, junk)
        expect_error("junk.png is not an image")
        self.browser.choose(KIND, "a sound")
        self.browser.type(SOUND, junk)
        expect_error("junk.png is not a sound")
        self.browser.choose(KIND, "numbers")
        self.browser.type("fieldset textarea[rows='3']", "1 2 three")
        expect_error("three is not a number")
        self.browser.type("fieldset textarea[rows='3']", "\b\b\b\b\b")
        expect_error("its shape has 48 numbers, and here are 2")
        self.browser.choose("#try-mode", "the whole request as JSON")
        self.browser.run("document.getElementById('try-json').value = '{}'")
        expect_error("400: ")


class Strangers(BrowserTest):
    """A page of another site, in the same browser."""

    def setUp(self):
        super().setUp()
        self.port = self.serve_folder(self.page)

    @staticmethod
    def page(request):
        text = b"<!doctype html><link rel=icon href='data:,'><title>stranger</title>"
        request.send_response(200)
        request.send_header("Content-Type", "text/html")
        request.send_header("Content-Length", str(len(text)))
        request.end_headers()
        request.wfile.write(text)

    def fetch(self, server, path, options):
        return self.browser.run("""return fetch(arguments[0], arguments[1])
            .then(async (answer) => `${answer.status} ${await answer.text()}`, (error) => String(error));""",
                                f"http://127.0.0.1:{server.port}{path}", options)

    def test_it_can_have_nothing_computed(self):
        server = self.serve(models={"m": MODEL})
        self.browser.open(f"http://127.0.0.1:{self.port}/")
        simple = {"method": "POST", "mode": "no-cors", "body": BODY.decode()}
        self.assertEqual(self.fetch(server, "/v2/models/m/infer", simple), "0 ")  # it does not see that this is a 403
        self.assertIn("Failed to fetch", self.fetch(server, "/v2/models/m/infer", {**simple, "mode": "cors"}))
        self.assertIn("Failed to fetch", self.fetch(server, "/wasinn/state", {}))
        state = server.request("GET", "/wasinn/state").json()
        self.assertEqual(state["models"][0]["inferences"]["succeeded"], 0)

    def test_one_that_is_allowed_can(self):
        server = self.serve("--allow-origin", f"http://127.0.0.1:{self.port}", models={"m": MODEL})
        self.browser.open(f"http://127.0.0.1:{self.port}/")
        options = {"method": "POST", "body": BODY.decode(), "headers": {"Content-Type": "application/json", "Authorization": "Bearer x"}}
        self.assertIn('200 {"model_name":"m"', self.fetch(server, "/v2/models/m/infer", options))
        self.assertIn('200 {"', self.fetch(server, "/wasinn/state", {}))
        self.expect_quiet()

    def test_it_cannot_frame_the_page(self):
        server = self.serve(models={"m": MODEL})
        self.browser.open(f"http://127.0.0.1:{self.port}/")
        self.browser.run("const frame = document.createElement('iframe'); frame.src = arguments[0]; document.body.append(frame);",
                         f"http://127.0.0.1:{server.port}/")
        until(lambda: any("frame" in entry["message"].lower() for entry in self.browser.log()))


@unittest.skipUnless("WASINN_MODELS" in os.environ, "the build has no ONNX Runtime")
class Digits(BrowserTest):
    def test_images_are_classified(self):
        """As the example does it that is a guest."""
        root = pathlib.Path(os.environ["WASINN_MODELS"]).parent
        self.env["WASINN_CONFIG"] = ""
        route = f"/classify={pathlib.Path(PROBE).parent}/classify_route.wasm"
        server = self.serve("--model", f"digits={root}/models/digits.onnx", "--route", route)
        self.show_form(server)
        images = sorted((root / "examples/classify/images").glob("*.png"))
        self.assertEqual(len(images), 6)
        for image in images:
            self.browser.type(IMAGE, image)
            self.infer()
            label, value = self.browser.run("return [...document.querySelectorAll('.top tbody tr:first-child td')].slice(0, 2).map((one) => one.textContent)")
            scores = server.request("POST", "/classify", image.read_bytes()).json()["scores"]
            self.assertEqual(int(label), scores.index(max(scores)), image)
            self.assertEqual(int(label), int(image.stem[-1]), image)
            self.assertAlmostEqual(float(value), max(scores), places=3)
        self.browser.until("return document.querySelector('#routes td:nth-child(4)').textContent === '6'")
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('#routes td')].map((one) => one.textContent)"),
                         ["/classify", "classify_route.wasm", "module", "6", "0"])
        self.expect_quiet()
        self.take_picture()

    def take_picture(self):
        if path := os.environ.get("WASINN_SCREENSHOT"):
            self.browser.run("window.scrollTo(0, 0); document.activeElement.blur()")
            self.browser.size(1200, 900)
            height = self.browser.run("return document.documentElement.scrollHeight")
            self.browser.size(1200, height)
            self.browser.screenshot(pathlib.Path(path))
