"""Makes scores.pt2, a package of AOTInductor: make_package.py, with PyTorch (requirements.txt) and g++. See ../README.md."""

import os
import pathlib
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
CACHE = tempfile.mkdtemp()
# Inductor compiles for the processor that it runs on. This package is for all of x86-64, without symbols and paths.
COMPILER = pathlib.Path(CACHE) / "g++"
os.environ.update(CXX=str(COMPILER), ATEN_CPU_CAPABILITY="default", TORCHINDUCTOR_CACHE_DIR=CACHE)

import torch  # noqa: E402

FLAGS = f"-s -fmacro-prefix-map={pathlib.Path(torch.__file__).parent}/= -fmacro-prefix-map={CACHE}/="
COMPILER.write_text(f'#!/bin/bash\nexec /usr/bin/g++ "${{@/-march=native/-march=x86-64}}" {FLAGS}\n')
COMPILER.chmod(0o755)


class Scores(torch.nn.Module):
    """Arguments by place and by name, a batch of any size, and a result that is nested."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([[1.0, -2.0], [0.5, 3.0], [-1.0, 0.0]]))

    def forward(self, x, *, scale):
        scores = torch.nn.functional.linear(x, self.weight) * scale
        return {"scores": scores, "parts": (torch.relu(scores), x.sum())}


with torch.no_grad():
    batch = {0: torch.export.Dim("batch", min=1, max=64)}
    torch.fx.experimental._config.backed_size_oblivious = True  # else a batch has at least 2
    program = torch.export.export(
        Scores().eval(),
        (torch.ones(3, 2),),
        {"scale": torch.ones(1)},
        dynamic_shapes={"x": batch, "scale": None},
    )
    made = str(pathlib.Path(CACHE) / "scores.pt2")
    options = {"cpp.simdlen": 1, "cpp.threads": 1}
    torch._inductor.aoti_compile_and_package(program, package_path=made, inductor_configs=options)

# Without its sources, which PyTorch looks for, and wasinn does not.
with zipfile.ZipFile(made) as whole, zipfile.ZipFile(HERE / "scores.pt2", "w", zipfile.ZIP_DEFLATED) as package:
    for entry in whole.infolist():
        if not entry.filename.endswith(".cpp"):
            package.writestr(zipfile.ZipInfo(entry.filename), whole.read(entry), zipfile.ZIP_DEFLATED)

given = (torch.tensor([[1.0, 2.0]]), {"scale": torch.tensor([2.0])})
for model in (torch._inductor.aoti_load_package(made), Scores()):
    print(model(given[0], **given[1]))
