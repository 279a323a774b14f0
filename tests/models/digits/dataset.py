"""The digits, split once and for all, and the one mapping between a pixel, a PNG byte and a model input.

scikit-learn stores each 8x8 image with pixels 0..16. A PNG file holds round(pixel * 255 / 16), and the model's
input is that byte / 255 as float32. Training, the ONNX export's check and the guest all go through the byte, so that a
guest which decodes the PNG file has the very bits that the network was trained on.
"""

import pathlib

import numpy as np

HELD_OUT = 360
SPLIT_SEED = 1797

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
WEIGHTS = HERE / "weights.npz"
HELD_OUT_IMAGES = HERE / "heldout"
EXAMPLE_IMAGES = ROOT / "examples" / "classify" / "images"
ONNX_MODEL = ROOT / "models" / "digits.onnx"


def to_bytes(pixels):
    """Pixels 0..16 as the bytes of a grayscale PNG file."""
    return np.rint(pixels * 255.0 / 16.0).astype(np.uint8)


def to_input(image_bytes):
    """Bytes [..., 8, 8] as the model's input, float32 [N, 1, 8, 8]."""
    return (image_bytes.astype(np.float32) / np.float32(255.0)).reshape(-1, 1, 8, 8)


def load():
    """Returns (train, held_out), each (index in the data set, image bytes [N, 8, 8], label)."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    digits = load_digits()
    images = to_bytes(digits.images)
    train, held_out = train_test_split(
        np.arange(len(images)), test_size=HELD_OUT, random_state=SPLIT_SEED, stratify=digits.target
    )
    train, held_out = np.sort(train), np.sort(held_out)
    return tuple((part, images[part], digits.target[part]) for part in (train, held_out))
