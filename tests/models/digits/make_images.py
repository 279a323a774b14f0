"""Writes the held-out images as 8x8 grayscale PNG files, and copies a few of them to the classify example.

A file is named INDEX_label-DIGIT.png, where INDEX is the image's place in scikit-learn's data set.
"""

import io

import numpy as np
from PIL import Image

import dataset

# Held-out images that are well to be seen in a terminal.
EXAMPLES = (2, 8, 32, 52, 213, 275)


def png(image):
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "PNG", optimize=True)
    data = buffer.getvalue()
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(data))), image)
    return data


def write_all(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.png"):
        old.unlink()
    for name, data in files:
        (folder / name).write_bytes(data)
    print(f"wrote {len(files)} images to {folder.relative_to(dataset.ROOT)}")


def main():
    _, (indices, images, labels) = dataset.load()
    files = [
        (f"{index:04}_label-{label}.png", png(image))
        for index, image, label in zip(indices, images, labels)
    ]
    write_all(dataset.HELD_OUT_IMAGES, files)
    write_all(dataset.EXAMPLE_IMAGES, [files[list(indices).index(index)] for index in EXAMPLES])


if __name__ == "__main__":
    main()
