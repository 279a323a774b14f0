"""Runs guests on a host, and judges their answers."""

import dataclasses
import os
import pathlib
import queue
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time

ANSWER = re.compile(r"^(\d+) \d+ (-|(?:[0-9a-f]{2})+)$")
SEEN_AS = "/suite"  # what guests call the folder of their files
TRAP = "trap"


@dataclasses.dataclass
class Result:
    name: str
    status: str  # passed, failed, refused
    expected: str
    got: str
    cite: str
    seen: str = ""
    detail: str = ""
    seconds: float = 0.0


@dataclasses.dataclass
class Host:
    command: str
    models: pathlib.Path
    limit: float

    def argv(self, wasm, args, folder, seconds):
        words = []
        for word in shlex.split(self.command):
            if word == "{args}":
                words += [str(arg) for arg in args]
                continue
            for name, value in (("wasm", wasm), ("dir", folder), ("models", self.models), ("seconds", seconds)):
                word = word.replace("{" + name + "}", str(value))
            words.append(word)
        return words

    def lines(self, wasm, args, folder, seconds, end):
        """The lines that a guest prints. `end` gets its exit status, or words, and the end of its stderr."""
        with tempfile.TemporaryFile() as errors:
            try:
                process = subprocess.Popen(self.argv(wasm, args, folder, seconds), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, start_new_session=True)
            except OSError as error:
                end.append((f"no host: {error}", ""))
                return
            read = queue.SimpleQueue()
            reader = threading.Thread(target=self._read, args=(process.stdout, read), daemon=True)
            reader.start()
            late = False
            try:
                while (line := read.get(timeout=self.limit)) is not None:
                    yield line.decode("utf-8", "replace").rstrip("\r\n")
                process.wait(self.limit)
            except (queue.Empty, subprocess.TimeoutExpired):
                late = True
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            reader.join()
            errors.seek(0)
            words = errors.read().decode("utf-8", "replace").strip().splitlines()[-3:]
            end.append((f"no answer within {self.limit:g} s" if late else process.returncode, " | ".join(words)[:600]))

    @staticmethod
    def _read(stream, lines):
        with stream:
            for line in stream:
                lines.put(line)
        lines.put(None)


def end_words(status):
    """How a guest ended: "trap" if that may be one."""
    if isinstance(status, str):
        return status
    if status < 0 or (status > 128 and status != 134):  # by shells; 134 is Wasmtime's for a trap
        return f"the host ended by signal {-status if status < 0 else status - 128}"
    if status == 101:
        return "the host panicked"
    return "the guest ended without an answer" if status == 0 else TRAP


def copy_files(files, folder):
    for name, source in files.items():
        if isinstance(source, bytes):
            (folder / name).write_bytes(source)
        else:
            shutil.copyfile(source, folder / name)


class Guest:
    """A program of the folder of guests, and what it prints."""

    def __init__(self, area):
        self.area = area


class StepsGuest(Guest):
    """tests/conformance/steps.cc: a line for each step of a script."""

    def arguments(self, parts, first, folder):
        (folder / "script").write_text("".join(step + "\n" for part in parts for step in part.steps))
        return [f"{SEEN_AS}/script"]

    def answer(self, line):
        match = ANSWER.match(line)
        return match and (int(match[1]), b"" if match[2] == "-" else bytes.fromhex(match[2]))

    def is_whole(self, part, answers):
        return len(answers) == len(part.steps)

    def judge(self, part, check, answers, ended):
        """The answer to a check, its bytes, and more words."""
        name = self.area.form.error
        for i, (number, _) in enumerate(answers[: check.steps.start]):
            if number != 0 and not any(i in other.steps for other in part.checks):
                return f"no answer: '{part.steps[i][:60]}' gave {name(number)}", b""
        mine = answers[check.steps.start : check.steps.stop]
        for number, data in mine:
            if number != 0:
                return name(number), data
        if len(mine) == len(check.steps):
            return "success", mine[-1][1]
        if len(answers) < check.steps.start:  # it ended in a check before, perhaps for an error that this one would have, too
            return next((name(number) for number, _ in answers if number != 0), "the guest ended before" if ended == TRAP else ended), b""
        return (ended if answers or ended != TRAP else "the guest ended before"), b""


class Runner:
    def __init__(self, host, guests, wanted):
        self.host, self.guests, self.wanted = host, guests, wanted

    def run(self, area):
        """Results of the area's checks."""
        if hasattr(area, "run"):
            yield from area.run(self)
            return
        guest = area.guest_class(area) if hasattr(area, "guest_class") else StepsGuest(area)
        numbered = [(i, part) for i, part in enumerate(area.parts) if any(self.wanted(check.name) for check in part.checks)]
        if numbered and getattr(area, "is_whole", False):
            numbered = list(enumerate(area.parts))
        while numbered:
            batch = numbered[: area.most]
            done = yield from self._run_batch(area, guest, batch)
            numbered = numbered[done:]

    def _run_batch(self, area, guest, batch):
        """Runs one guest, and yields the results of the parts that it did, the last perhaps in part. Returns how many these are."""
        parts = [part for _, part in batch]
        end, done, answers, last, begin = [], 0, [], [], time.monotonic()
        with tempfile.TemporaryDirectory(prefix="wasinn-conformance-") as name:
            folder = pathlib.Path(name)
            for part in [area, *parts]:
                copy_files(part.files, folder)
            wasm = self.guests / f"{area.guest}-{area.form.guest}.wasm"
            args = guest.arguments(parts, batch[0][0], folder)
            for line in self.host.lines(wasm, args, folder, area.seconds, end):
                answer = guest.answer(line)
                if answer is None or done == len(parts):
                    continue
                answers.append(answer)
                if guest.is_whole(parts[done], answers):
                    now = time.monotonic()
                    yield from last
                    last = list(self._results(guest, parts[done], answers, "", "", now - begin))
                    done, answers, begin = done + 1, [], now
        status, words = end[0]
        if done == len(parts) and status != 0:  # it did not end well
            for result in last:
                result.status, result.got, result.detail = "failed", f"{result.got}; at the guest's end: {end_words(status)}", words
        yield from last
        if done < len(parts):
            yield from self._results(guest, parts[done], answers, end_words(status), words, time.monotonic() - begin)
            done += 1
        return done

    def _results(self, guest, part, answers, ended, words, seconds):
        for check in part.checks:
            if self.wanted(check.name):
                got, data = guest.judge(part, check, answers, ended)
                yield judged(check, got, data, words, seconds)


def judged(check, got, data, words, seconds):
    expect = check.expect
    result = Result(check.name, "failed", expect.words(), got, expect.cite, expect.seen, "", seconds)
    if got in expect.refused:
        result.status = "refused"
    elif got in expect.answers:
        wrong = expect.data(data) if expect.data and got == "success" else None
        result.status, result.got = ("failed", f"success, but {wrong}") if wrong else ("passed", got)
    if result.status == "failed":
        result.detail = words
    return result
