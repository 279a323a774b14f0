"""Trains the digits network and writes weights.npz (float32, layout out x in x rows x columns).

The number of epochs and all settings are fixed here; the held-out images are only looked at once, at the end.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.ndimage import map_coordinates

import dataset

SEED = 3
EPOCHS = 120
BATCH = 64
RATE = 2e-3
# name: shape. The convolutions are 3x3 with padding 1; a 2x2 maximum follows the second and the third.
SHAPES = {
    "conv1.weight": (16, 1, 3, 3),
    "conv1.bias": (16,),
    "conv2.weight": (32, 16, 3, 3),
    "conv2.bias": (32,),
    "conv3.weight": (48, 32, 3, 3),
    "conv3.bias": (48,),
    "dense.weight": (10, 192),
    "dense.bias": (10,),
}


def initial_weights(key):
    weights = {}
    for name, shape in SHAPES.items():
        key, sub = jax.random.split(key)
        fan_in = np.prod(shape[1:]) if len(shape) > 1 else 1
        scale = np.sqrt(2.0 / fan_in) if name.endswith("weight") else 0.0
        weights[name] = scale * jax.random.normal(sub, shape, jnp.float32)
    return weights


def convolution(weights, name, x):
    y = jax.lax.conv_general_dilated(x, weights[name + ".weight"], (1, 1), "SAME")
    return jax.nn.relu(y + weights[name + ".bias"][None, :, None, None])


def maximum_2x2(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def logits(weights, x, dropout_key=None):
    x = convolution(weights, "conv1", x)
    x = maximum_2x2(convolution(weights, "conv2", x))
    x = maximum_2x2(convolution(weights, "conv3", x))
    x = x.reshape(x.shape[0], -1)
    if dropout_key is not None:
        x = x * jax.random.bernoulli(dropout_key, 0.7, x.shape) / 0.7
    return x @ weights["dense.weight"].T + weights["dense.bias"]


def distort(key, x):
    """Turns, scales and moves each image a little, as hands do."""
    keys = jax.random.split(key, 3)
    count = x.shape[0]
    angle = jax.random.uniform(keys[0], (count,), minval=-0.2, maxval=0.2)
    scale = jax.random.uniform(keys[1], (count, 2), minval=0.88, maxval=1.12)
    shift = jax.random.uniform(keys[2], (count, 2), minval=-0.8, maxval=0.8)
    rows, columns = jnp.meshgrid(jnp.arange(8) - 3.5, jnp.arange(8) - 3.5, indexing="ij")

    def one(image, angle, scale, shift):
        cos, sin = jnp.cos(angle), jnp.sin(angle)
        r = (cos * rows - sin * columns) * scale[0] + shift[0] + 3.5
        c = (sin * rows + cos * columns) * scale[1] + shift[1] + 3.5
        return map_coordinates(image[0], [r, c], order=1, mode="constant")[None]

    return jax.vmap(one)(x, angle, scale, shift)


def loss(weights, key, x, labels):
    keys = jax.random.split(key)
    scores = jax.nn.log_softmax(logits(weights, distort(keys[0], x), keys[1]))
    wanted = jax.nn.one_hot(labels, 10) * 0.95 + 0.005
    return -jnp.mean(jnp.sum(wanted * scores, axis=1))


@jax.jit
def step(state, key, rate, x, labels):
    """One step of Adam; the running mean of the weights is what is kept in the end."""
    weights, first, second, mean, count = state
    gradient = jax.grad(loss)(weights, key, x, labels)
    count += 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradient)

    def move(w, m, v):
        return w - rate * (m / (1 - 0.9**count)) / (jnp.sqrt(v / (1 - 0.999**count)) + 1e-8)

    weights = jax.tree.map(move, weights, first, second)
    mean = jax.tree.map(lambda a, w: 0.995 * a + 0.005 * w, mean, weights)
    return weights, first, second, mean, count


def train(images, labels):
    x = dataset.to_input(images)
    key = jax.random.key(SEED)
    order = np.random.default_rng(SEED)
    weights = initial_weights(key)
    zero = jax.tree.map(jnp.zeros_like, weights)
    state = (weights, zero, zero, weights, 0)
    steps = EPOCHS * (len(x) // BATCH)
    done = 0
    for epoch in range(EPOCHS):
        shuffled = order.permutation(len(x))
        for start in range(0, len(x) - BATCH + 1, BATCH):
            batch = shuffled[start : start + BATCH]
            rate = RATE * 0.5 * (1 + np.cos(np.pi * done / steps))
            state = step(state, jax.random.fold_in(key, done), rate, x[batch], labels[batch])
            done += 1
        if epoch % 20 == 19:
            print(f"epoch {epoch + 1} of {EPOCHS}: training accuracy {accuracy(state[3], images, labels):.4f}")
    return state[3]


def accuracy(weights, images, labels):
    scores = logits(weights, dataset.to_input(images))
    return float(np.mean(np.argmax(np.asarray(scores), axis=1) == labels))


def main():
    (_, images, labels), (_, held_images, held_labels) = dataset.load()
    weights = train(images, labels)
    reached = accuracy(weights, held_images, held_labels)
    print(f"held-out accuracy {reached:.4f} ({len(held_labels)} images)")
    if reached < 0.97:
        sys.exit("below 0.97: weights.npz is left as it was")
    np.savez(dataset.WEIGHTS, **{name: np.asarray(weights[name]) for name in SHAPES})
    print(f"wrote {dataset.WEIGHTS.relative_to(dataset.ROOT)}")


if __name__ == "__main__":
    main()
