#!/usr/bin/env -S uv run --script
# /// script
# requires-python = ">=3.10"
# dependencies = ["matplotlib"]
# ///
"""Draws the figures of simulate.py for `loads` and `loss`.

usage: plot.py PICTURE.svg FIGURES.json…

Needs matplotlib: `uv run` gets it, or pip in an environment."""

import json
import pathlib
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.fonttype"] = "none"  # text stays text, which is smaller
matplotlib.rcParams["svg.hashsalt"] = "wasinn"  # the same file from the same figures
import matplotlib.pyplot as plt  # noqa: E402

STYLES = {"round-robin": "--", "least-outstanding": "-"}


def draw_loads(panel, rows):
    for color, nodes in enumerate(sorted({row["nodes"] for row in rows})):
        for policy, style in STYLES.items():
            # Above their capacity, latency only shows the length of the queue.
            shown = [row for row in rows if (row["nodes"], row["policy"]) == (nodes, policy) and row["share"] <= 1]
            if shown:
                words = f"{nodes} nodes, {policy}" if nodes > 1 else "1 node"
                panel.plot(
                    [100 * row["share"] for row in shown],
                    [row["p99_us"] / 1000 for row in shown],
                    style,
                    color=f"C{color}",
                    marker=".",
                    label=words,
                )
    panel.set_title("p99 in ms", fontsize="medium", loc="left")
    panel.set_yscale("log")
    panel.set_xlabel("% of what the nodes can")


def draw_loss(panel, rows):
    for color, nodes in enumerate(sorted({row["nodes"] for row in rows}), 1):
        for row in (row for row in rows if row["nodes"] == nodes):
            steps = row["timeline"]
            seconds, p99s = [step["at_s"] for step in steps], [step["p99_us"] / 1000 for step in steps]
            label = f"{nodes} nodes, {row['policy']}"
            panel.plot(seconds, p99s, STYLES[row["policy"]], color=f"C{color}", label=label)
    panel.set_title(
        "p99 in ms, by when requests fell due: a node is gone at 2 s, and back at 7", fontsize="medium", loc="left"
    )
    panel.set_yscale("log")
    panel.set_xlabel("seconds")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    figures = {}
    for name in sys.argv[2:]:
        figures |= json.loads(pathlib.Path(name).read_text(encoding="utf-8"))
    figure, panels = plt.subplots(2, 1, figsize=(8, 6.5), layout="constrained")
    draw_loads(panels[0], figures["loads"])
    draw_loss(panels[1], figures["loss"])
    for panel in panels:
        panel.legend(fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(sys.argv[1], bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    main()
