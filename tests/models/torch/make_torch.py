"""Makes the TorchScript models that are measured: make_torch.py, with PyTorch (requirements.txt). See ../README.md."""

import pathlib

import torch

HERE = pathlib.Path(__file__).resolve().parent


class Mean(torch.nn.Module):
    def forward(self, image):
        return image.mean(dim=[2, 3])


class Relu(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)


class Parts(torch.nn.Module):
    """A result that is nested, of several types."""

    def forward(self, x, times: int, wanted: bool = True):
        return {"scaled": [x * times], "parts": [x.half(), x.sum(dim=0), x > 0]}


for name, model in (("mean", Mean()), ("relu", Relu()), ("parts", Parts())):
    torch.jit.script(model.eval()).save(str(HERE / f"{name}.pt"))
