#!/usr/bin/env -S uv run --script
# /// script
# requires-python = ">=3.10"
# dependencies = ["matplotlib"]
# ///
"""Draws the samples of a soak.

usage: plot.py SAMPLES.csv PICTURE.svg

Needs matplotlib: `uv run` gets it, or pip in an environment."""

import csv
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.fonttype"] = "none"  # text stays text, which is smaller
matplotlib.rcParams["svg.hashsalt"] = "wasinn"  # the same file from the same samples
import matplotlib.pyplot as plt  # noqa: E402

# Each panel: its title, a scale, and lines of (column, words, only at rest).
PANELS = [
    (
        "MiB",
        1024,
        [
            ("host_rss_kib", "the host, at rest", True),
            ("templates_rss_kib", "templates, at rest", True),
            ("workers_rss_kib", "workers, while guests compute", False),
        ],
    ),
    (
        "descriptors and threads of the host",
        1,
        [
            ("descriptors", "descriptors, while guests compute", False),
            ("threads", "threads, while guests compute", False),
            ("descriptors", "descriptors, at rest", True),
            ("threads", "threads, at rest", True),
        ],
    ),
    (
        "handles of all guests, and workers",
        1,
        [
            ("handles", "handles, while guests compute", False),
            ("workers", "workers, while guests compute", False),
            ("handles", "handles, at rest", True),
            ("workers", "workers, at rest", True),
        ],
    ),
]


def draw(samples, picture):
    figure, panels = plt.subplots(len(PANELS), 1, sharex=True, figsize=(8, 8), layout="constrained")
    for panel, (title, scale, lines) in zip(panels, PANELS):
        for column, words, at_rest in lines:
            shown = [sample for sample in samples if (sample["at_rest"] == "1") == at_rest]
            x = [int(sample["inferences"]) / 1000 for sample in shown]
            y = [float(sample[column]) / scale for sample in shown]
            panel.plot(x, y, label=words, linewidth=1.8 if at_rest else 0.8)
        panel.set_title(title, fontsize="medium", loc="left")
        panel.set_ylim(bottom=0)
        panel.legend(fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    panels[-1].set_xlabel("thousand inferences")
    figure.savefig(picture, bbox_inches="tight", metadata={"Date": None})


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        draw(list(csv.DictReader(file)), sys.argv[2])


if __name__ == "__main__":
    main()
