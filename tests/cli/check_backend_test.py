"""wasinn check-backend, on the template, on echo, and on backends that are broken in one way each."""

import json
import os
import re
import struct

from command import ECHO, CommandTest, longer_and_longer

TEMPLATE = os.environ["WASINN_TEMPLATE"]
BROKEN = os.environ["WASINN_BROKEN"]


class CheckBackendTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.file("m.affine", b"AFF1" + struct.pack("<2fI", 2, 0.5, 0))
        self.file("fixed.affine", b"AFF1" + struct.pack("<2fI", 2, 0.5, 4))

    def check_backend(self, library, *args, model="m.affine"):
        """The command's result, and what it says of each check: {name: (passed, [what was found])}."""
        result = self.wasinn("check-backend", library, model, *args)
        report = {}
        for line in result.out.splitlines():
            if line.startswith(("pass  ", "FAIL  ", "n/a   ")):
                name, expects = line[6:].split(": ", 1)
                self.assertTrue(expects, line)
                report[name] = (line.startswith("pass"), [])
            elif line.startswith("      "):
                report[name][1].append(line.strip())
                self.assertNotRegex(line, r"==|!=|->|::|^ +\(", "words, and no C++")
        self.not_looked_at = {
            name: report.pop(name)[1] for name in re.findall(r"^n/a   (\w+): ", result.out, re.MULTILINE)
        }
        return result, report

    def check_broken(self, name, fails, *args, model="m.affine"):
        """The checks that fail, and no others."""
        result, report = self.check_backend(f"{BROKEN}/broken_{name}.so", *args, model=model)
        self.assertEqual(result.code, 1, result)
        self.assertEqual({check for check, (passed, _) in report.items() if not passed}, set(fails), result)
        for check, (passed, found) in report.items():
            self.assertEqual(passed, not found, result)
        return result, {check: " ".join(report[check][1]) for check in fails}

    def check_endless(self, name, check):
        """The one check that does not return. On a busy machine others may be late, too: then all get longer."""
        for milliseconds in longer_and_longer(1000):
            late = f"it did not return within {milliseconds // 1000} s"
            seconds = ("--seconds", str(milliseconds // 1000))
            _, report = self.check_backend(f"{BROKEN}/broken_{name}.so", *seconds)
            if not any(late in found for other, (_, found) in report.items() if other != check):
                break
        self.assertEqual([other for other, (passed, _) in report.items() if not passed], [check], report)
        self.assertIn(late, report[check][1])

    def test_the_template_keeps_all_promises(self):
        result, report = self.check_backend(TEMPLATE)
        self.check(result, code=0, err="")
        self.assertGreater(len(report), 20)
        self.assertEqual(self.not_looked_at["TakenOutputsAreInputsOfOthers"], ["there is no take_output"])
        all_checks = len(report) + len(self.not_looked_at)
        self.assertIn(
            f"{len(report)} of {all_checks} checks passed, {len(self.not_looked_at)} had nothing to look at", result.out
        )
        self.assertNotIn("AnInputThatCouldNotBeBoundIsUnset", self.not_looked_at)
        for name in ("AHostTakesIt", "TheModelLoads", "InputsStayUntilTheyAreSetAgain", "OutputsAreWhatTheySay"):
            self.assertEqual(report[name], (True, []))
        self.check(self.check_backend(TEMPLATE, "--shape", "x=3x1x2", "--encoding", "affine")[0], code=0)
        self.check(self.check_backend(TEMPLATE, model="fixed.affine")[0], code=0, err="")

    def test_json(self):
        result = self.wasinn("check-backend", "--json", TEMPLATE, "m.affine")
        self.check(result, err="")
        report = json.loads(result.out)
        outcomes = [check["outcome"] for check in report["checks"]]
        self.assertEqual((report["passed"], report["not_run"]), (outcomes.count("passed"), 0))
        self.assertEqual(report["nothing_to_check"], outcomes.count("nothing_to_check"))
        result = self.wasinn("check-backend", "--json", f"{BROKEN}/broken_lying.so", "m.affine")
        failed = [check for check in json.loads(result.out)["checks"] if check["outcome"] == "failed"]
        self.assertEqual((result.code, len(failed) > 0, all(check["failures"] for check in failed)), (1, True, True))

    def test_echo(self):
        self.file("m.gguf", "GGUFin a f32 -1,2\nin b f32 2,-1\nin c i64 3 optional\n")
        library = os.path.join(ECHO, "libwasinn_backend_echo.so")
        self.check(self.check_backend(library, model="m.gguf")[0], code=0, err="")
        for more in ("in d f32 2 bindable\nshares\n", "late\n"):
            self.file("more.gguf", "GGUFin a f32 -1,2\nin b f32 2,-1\n" + more)
            self.check(self.check_backend(library, model="more.gguf")[0], code=0, err="")
        result, report = self.check_backend(library, "--shape", "b=3x3", model="m.gguf")
        self.check(result, code=1, out="input 'b' does not take the shape of --shape")
        self.check(result, code=1, out="1 of ")
        self.assertEqual(list(report), ["AHostTakesIt", "TheModelLoads"])

    def test_a_library_that_no_host_takes(self):
        for name, why in (
            ("incomplete", "has no 'compute'"),
            ("another_major", "of the backend ABI: expected"),
            ("missing", "libnothing.so is nowhere"),
        ):
            result, found = self.check_broken(name, ["AHostTakesIt"])
            self.assertIn(why, found["AHostTakesIt"])
            self.assertRegex(result.out, r"\n0 of \d+ checks passed, \d+ were not run")
        self.file("text.so", "no library")
        result, report = self.check_backend("text.so")
        self.check(result, code=1)
        self.assertEqual(list(report), ["AHostTakesIt"])

    def test_a_model_that_does_not_load(self):
        self.file("noise.affine", "noise")
        result, report = self.check_backend(TEMPLATE, model="noise.affine")
        self.check(result, code=1, out="expected AFF1 and 12 bytes: found 5")
        self.assertEqual(list(report), ["AHostTakesIt", "TheModelLoads"])

    def test_one_that_ends_the_process_is_survived(self):
        result, report = self.check_backend(f"{BROKEN}/broken_crashing.so")
        self.check(result, code=1)
        self.assertIn("it ended the OS process: signal 6", report["InputsStayUntilTheyAreSetAgain"][1][-1])
        # If a model does not compute, the other checks still run.
        self.assertTrue(report["ReportsTheModelsSignature"][0], result)
        self.assertTrue(report["BytesThatAreNoModelAreOfAnInvalidEncoding"][0], result)
        self.assertNotIn("were not run", result.out)

    def test_one_that_cannot_be_opened_leaves_no_folder(self):
        self.file("tmp/kept", "")
        self.env["TMPDIR"] = str(self.dir / "tmp")
        result, report = self.check_backend(f"{BROKEN}/broken_crashing_at_open.so")
        self.check(result, code=1)
        self.assertIn("it ended the OS process: signal 6", report["AHostTakesIt"][1][-1])
        self.assertEqual(os.listdir(self.dir / "tmp"), ["kept"])

    def test_one_that_never_returns_is_survived(self):
        self.check_endless("endless", "DiscardedOutputsAreGoneUntilTheNextCompute")

    def test_one_that_cannot_be_closed(self):
        _, found = self.check_broken("crashing_at_close", ["ItEndsAsItBegan"])
        self.assertIn("it ended the OS process: signal 6", found["ItEndsAsItBegan"])
        self.check_endless("endless_at_close", "ItEndsAsItBegan")

    def test_outputs_that_lie(self):
        _, report = self.check_backend(f"{BROKEN}/broken_lying.so")
        self.assertFalse(report["OutputsAreWhatTheySay"][0])
        found = " ".join(report["OutputsAreWhatTheySay"][1])
        self.assertRegex(found, r"^the number of bytes of output 0: found 16, expected 28 \(contract_outputs\.cc:\d+\)$")

    def test_inputs_that_are_kept(self):
        fails = ["BytesOfBoundMemoryMayChange", "InputsStayUntilTheyAreSetAgain", "ContextsComputeAtOnce",
                 "DiscardedOutputsAreGoneUntilTheNextCompute"]
        _, found = self.check_broken("keeping", fails)
        self.assertRegex(found["ContextsComputeAtOnce"], r"and \d+ more")
        self.assertIn("[0.5, 1, 1.5, 2]", found["BytesOfBoundMemoryMayChange"])

    def test_outputs_that_stick(self):
        self.check_broken("sticking", ["BoundOutputsFollowTheirMemory"], model="fixed.affine")

    def test_slots_that_remember(self):
        _, found = self.check_broken("remembering", ["ASlotThatIsResetIsAsNew"])
        self.assertIn("output 0, which should not be there: found ok, expected invalid_argument (", found["ASlotThatIsResetIsAsNew"])

    def test_memory_that_is_owed(self):
        result, report = self.check_backend(f"{BROKEN}/broken_owing.so")
        self.check(result, code=1)
        self.assertIn("given back", " ".join(report["InputsStayUntilTheyAreSetAgain"][1]))
        self.assertTrue(report["ReportsTheModelsSignature"][0], result)

    def test_usage(self):
        result, _ = self.check_backend(TEMPLATE, "--shape", "z=1x2")
        self.check(result, code=1, out="the model has no input 'z' for --shape: it has 'x'")
        for flag in ("--backend", "--model-config"):
            for text in ("{threads", "[1]"):
                result = self.wasinn("check-backend", TEMPLATE, "m.affine", flag, text)
                self.check_error(result, f"{flag}: '{text}' is not a JSON object", code=2)
        result, _ = self.check_backend(TEMPLATE, "--model-config", '{"no-key": 1}')
        self.check(result, code=1, out="--model-config: the backend has no key 'no-key' for models")
        self.check_error(self.wasinn("check-backend", "nowhere.so", "m.affine"), "nowhere.so is not a file")
        self.check_error(self.wasinn("check-backend", TEMPLATE, "nowhere"), "nowhere")
        self.check_error(self.wasinn("check-backend", TEMPLATE), "MODEL", code=2)
        self.check_error(self.wasinn("check-backend", TEMPLATE, "m.affine", "--shape", "x"), "NAME=DIMxDIM", code=2)
