"""Drives a headless Chromium through ChromeDriver, by WebDriver's own HTTP and JSON."""

import base64
import json
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

WAIT = 60  # seconds, for what takes much less
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # how the protocol calls one
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


class BrowserError(Exception):
    pass


class Browser:
    def __init__(self, folder):
        """`folder`: for what the browser writes."""
        self.driver = subprocess.Popen([DRIVER, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder,
                                       env={"HOME": str(folder), "TMPDIR": str(folder), "PATH": "/usr/bin:/bin"})
        try:
            for line in self.driver.stdout:
                if found := re.search(rb"started successfully on port (\d+)", line):
                    break
            else:
                raise BrowserError(f"ChromeDriver ends with {self.driver.wait()}")
            self.url = f"http://127.0.0.1:{int(found[1])}/session"
            # If root runs the tests, there is no sandbox for it; and shared memory is in a small folder in containers.
            arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
                         f"--user-data-dir={folder}/chromium", "--window-size=1280,900", "--hide-scrollbars"]
            options = {"browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
                       "goog:chromeOptions": {"binary": CHROMIUM, "args": arguments}}
            session = self.ask("POST", "", {"capabilities": {"alwaysMatch": options}})
            self.url += "/" + session["sessionId"]
        except BaseException:
            self.driver.kill()
            self.driver.communicate()
            raise

    def close(self):
        try:
            self.ask("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.communicate(timeout=WAIT)

    def ask(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=WAIT) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise BrowserError(json.load(error)["value"]) from None

    def open(self, url):
        self.ask("POST", "/url", {"url": url})

    def size(self, width, height):
        """As a device of this size has it: a window is no narrower than 500 pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", metrics)

    def devtools(self, command, parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def run(self, script, *arguments):
        """The result of a function with this body."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def find(self, selector):
        return self.ask("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.ask("POST", f"/element/{self.find(selector)}/click")

    def type(self, selector, text):
        """Keys; for a file's field, its path."""
        self.ask("POST", f"/element/{self.find(selector)}/value", {"text": str(text)})

    def choose(self, selector, text):
        """An option of a select, by what it shows."""
        chosen = self.run("""const [select] = document.querySelectorAll(arguments[0]);
            const option = [...select.options].find((one) => one.textContent === arguments[1]);
            if (!option) return false;
            select.value = option.value;
            select.dispatchEvent(new Event("change", {bubbles: true}));
            return true;""", selector, text)
        if not chosen:
            raise BrowserError(f"{selector} has no {text!r}")

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? null", selector)

    def until(self, script, *arguments):
        """Its result, once that is true."""
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            if reported := self.run(script, *arguments):
                return reported
            time.sleep(0.02)
        raise BrowserError(f"never true: {script} {arguments}; the page: {self.run('return document.body.innerText')}")

    def log(self):
        """The console's lines since the last call."""
        return self.ask("POST", "/se/log", {"type": "browser"})

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.ask("GET", "/screenshot")))
