"""What the pages show works as it stands there."""

import pathlib
import re
import shutil

from command import CommandTest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


class DocsTest(CommandTest):
    def test_the_settings_of_configuration_md(self):
        page = (SOURCE / "docs/configuration.md").read_text()
        self.file("all.toml", re.search(r"```toml\n(.*?)```", page, re.DOTALL).group(1))
        (self.dir / "models").mkdir()
        shutil.copy(SOURCE / "models/digits.onnx", self.dir / "models")
        result = self.run_probe("graphs", "digits", flags=["--config", "all.toml"], env={"WASINN_CONFIG": ""})
        self.check(result, out="graphs 64, then errno 7\n")
        self.assertEqual(len(result.err.splitlines()), 1, "no more than the one about the 65th: " + result.err)
