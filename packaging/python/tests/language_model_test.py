"""Language models, from Python."""

import unittest

import wasinn
from surroundings import MODELS, InstalledTest


class LanguageModelTest(InstalledTest):
    def test_text_comes_in_pieces(self):
        with wasinn.Host() as host:
            host.add_model("lm", MODELS / "tiny.gguf")
            with host.guest() as guest, guest.load_by_name(
                "lm", {"temp": 0, "n-predict": 20}
            ) as graph, graph.context() as context:
                whole = context.compute({"prompt": "GNU General Public"})["completion"].text
                pieces = list(context.generate({"prompt": "GNU General Public"}))
                self.assertEqual("".join(pieces), whole)
                self.assertGreater(len(pieces), 10)
                self.assertIn('"output_tokens":20', context.output("metadata").text)
                self.assertEqual(next(context.generate({"prompt": "GNU General Public"})), pieces[0])
                self.assertEqual(context.compute({"prompt": "GNU General Public"})["completion"].text, whole)

    def test_a_guest_is_closed_during_a_generation(self):
        with wasinn.Host() as host:
            host.add_model("lm", MODELS / "tiny.gguf")
            with host.guest() as guest:
                generation = guest.load_by_name("lm").context().generate({"prompt": "GNU"})
                next(generation)
            with self.assertRaisesRegex(wasinn.Error, "closed"):
                next(generation)


if __name__ == "__main__":
    unittest.main()
