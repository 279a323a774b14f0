"""Builds models/digits.pt (TorchScript) from weights.npz and checks it on the held-out images.

forward(image: float32 [batch, 1, 8, 8], 0..1) -> float32 [batch, 10]
"""

import sys

import numpy as np
import torch

import dataset

MODEL = dataset.ONNX_MODEL.with_suffix(".pt")


class Digits(torch.nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = torch.nn.Conv2d(16, 32, 3, padding=1)
        self.conv3 = torch.nn.Conv2d(32, 48, 3, padding=1)
        self.dense = torch.nn.Linear(192, 10)
        self.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.conv1(image))
        x = torch.max_pool2d(torch.relu(self.conv2(x)), 2)
        x = torch.max_pool2d(torch.relu(self.conv3(x)), 2)
        return torch.softmax(self.dense(torch.flatten(x, 1)), -1)


def main():
    torch.set_num_threads(1)
    with np.load(dataset.WEIGHTS) as weights:
        model = torch.jit.script(Digits(dict(weights)).eval())
    _, (_, images, labels) = dataset.load()
    with torch.inference_mode():
        probabilities = model(torch.from_numpy(dataset.to_input(images))).numpy()
    accuracy = float(np.mean(np.argmax(probabilities, axis=1) == labels))
    print(f"held-out accuracy in PyTorch {accuracy:.4f} ({len(labels)} images)")
    if accuracy < 0.97:
        sys.exit(f"below 0.97: {MODEL.name} is left as it was")
    model.save(str(MODEL))
    print(f"wrote {MODEL.relative_to(dataset.ROOT)} ({MODEL.stat().st_size} bytes)")


if __name__ == "__main__":
    main()
