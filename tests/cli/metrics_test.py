"""The text of --metrics, as Prometheus' own client reads it."""

import os
import sys

from command import CommandTest

sys.path.append(os.environ["WASINN_PROMETHEUS_CLIENT"])
from prometheus_client.parser import text_string_to_metric_families  # noqa: E402

# The name as a quoted key in TOML; the label's value; the name in the guest's error.
NAMES = {
    '"plain"': "plain",
    '"quo\\"ted"': 'quo"ted',
    '"back\\\\slash"': "back\\slash",
    '"back\\\\nslash n"': "back\\nslash n",
    '"two\\nlines"': "two\nlines",
    '"ends in \\\\"': "ends in \\",
    '"{a=\\"b\\",} 1"': '{a="b",} 1',
    '"größe 漢"': "größe 漢",
}


class MetricsTest(CommandTest):
    def families(self, *names, code=0, flags=()):
        config = f"backend_dirs = ['{os.environ['WASINN_ECHO']}']\n"
        for name in NAMES:
            config += f"[models.{name}]\npath = 'm.gguf'\n"
        self.file("echo.toml", config)
        self.file("m.gguf", "GGUF\nin x f32 2,3\n")
        commands = [word for name in names for word in ("infer", name)]
        self.check(self.run_probe(*commands, flags=["--metrics", "metrics", *flags]), code=code)
        families = list(text_string_to_metric_families((self.dir / "metrics").read_text()))
        self.assertEqual(len({family.name for family in families}), len(families), "each is there once")
        return {family.name: family for family in families}

    def test_it_reads_them_all(self):
        families = self.families("plain", "plain")
        for family in families.values():
            self.assertIn(family.type, ("counter", "gauge", "histogram"), family)
            self.assertTrue(family.documentation.endswith("."), family)
            self.assertTrue(family.samples or family.type == "counter", family)
            seen = {(sample.name, *sorted(sample.labels.items())) for sample in family.samples}
            self.assertEqual(len(seen), len(family.samples), family)
        ok = [sample for sample in families["wasinn_inferences"].samples if sample.labels["code"] == "ok" and sample.labels["model"] == "plain"]
        self.assertEqual([(sample.value, sample.labels["backend"], sample.labels["version"]) for sample in ok], [(2.0, "echo", "1")])
        times = families["wasinn_inference_duration_seconds"].samples
        buckets = [sample for sample in times if sample.name.endswith("_bucket") and sample.labels["model"] == "plain"]
        self.assertEqual(buckets[-1].labels["le"], "+Inf")
        self.assertEqual(buckets[-1].value, 2.0)
        self.assertEqual([sample.value for sample in times if sample.name.endswith("_count") and sample.labels["model"] == "plain"], [2.0])
        self.assertEqual(sorted(sample.value for sample in buckets), [sample.value for sample in buckets])

    def test_names_of_models(self):
        families = self.families(*NAMES.values())
        counted = {sample.labels["model"]: sample.value for sample in families["wasinn_inferences"].samples if sample.labels["code"] == "ok"}
        self.assertEqual({name: counted.get(name) for name in NAMES.values()}, dict.fromkeys(NAMES.values(), 1.0))

    def test_names_of_guests_are_in_none(self):
        name = 'guest "\\\n.wasm'
        (self.dir / name).symlink_to(os.environ["WASINN_PROBE"])
        self.families("plain")
        self.check(self.wasinn("run", "--metrics", "metrics", name, "infer", "plain"), code=0)
        text = (self.dir / "metrics").read_text()
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                self.assertNotIn(name, sample.labels.values())

    def test_no_guest_makes_a_label(self):
        for name in ('no such "model"\n', "x" * 300):
            families = self.families(name, code=0)
            models = {sample.labels["model"] for sample in families["wasinn_model_loads"].samples}
            self.assertNotIn(name, models)
