"""What docs/performance.md shows of reports: tables in Markdown.

A report is what `wasinn bench --json` prints (bench/README.md has its keys), or a program of bench/peers. Of the runs of a line, a
row shows the one whose difference at the median is the median."""

import collections

# How a guest makes its inferences, and where reports have the times of it.
Way = collections.namedtuple("Way", ["words", "p50", "p99"])
CALLED = Way("called each time", "p50_us", "p99_us")
LOOP = Way("in a loop of 16", "loop_us", "loop_p99_us")

LARGE = 100_000  # bytes of inputs, from which on copies are most of what an inference costs beside the framework


class Times:
    """Of one side and what it is compared with, in one of several runs."""

    def __init__(self, runs, way=CALLED, side="guest", base="native_copy"):
        ordered = sorted(runs, key=lambda run: run[way.p50][side] - run[way.p50][base])
        self.run = ordered[len(ordered) // 2]
        self.base, self.side = ([self.run[part][which] for part in (way.p50, way.p99)] for which in (base, side))
        self.difference = [side - base for side, base in zip(self.side, self.base)]

    @property
    def percent(self):
        return (self.side[0] / self.base[0] - 1) * 100

    def cells(self):
        """p50 and p99 of what is compared with, of the side, of the difference."""
        return [*(f"{us:.2f}" for us in (*self.base, *self.side)), *(f"{us:+.2f}" for us in self.difference)]


def markdown(heads, rows):
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def time_heads(base, side="guest"):
    return [f"{base}, p50", "p99", f"{side}, p50", "p99", "difference, p50", "p99"]


def code(label):
    return f"`{label}`"


def frameworks(measured):
    """`measured`: (line, its runs), as for all of these."""
    rows = []
    for line, runs in measured:
        times = Times(runs)
        *cells, p50, p99 = times.cells()
        run = times.run
        allocations = "n/a" if run["allocations"] is None else f"{run['allocations']:g}"
        native = f"{run['p50_us']['native']:.2f}"
        rows.append([code(line.label), native, *cells, f"{p50} ({times.percent:+.0f} %)", p99, f"{run['copies']:g}", allocations])
    heads = ["command", "native, µs", *time_heads("with a memcpy each way"), "copies", "allocations"]
    return "\n\n".join([markdown(heads, rows), *filter(None, [in_short(measured)])])


def in_short(measured):
    """From least to most of what core modules and components pay."""
    lines = []
    for abi, words in (("witx", "Core modules"), ("wit", "Components")):
        times = [Times(runs) for line, runs in measured if line.abi == abi]
        small = sorted(one.difference[0] for one in times if one.run["input_bytes"] < LARGE)
        large = sorted(one.percent for one in times if one.run["input_bytes"] >= LARGE)
        parts = [f"{small[0]:+.2f} to {small[-1]:+.2f} µs for small models"] if small else []
        parts += [f"{large[0]:+.0f} to {large[-1]:+.0f} % for large ones"] if large else []
        if parts:
            lines.append(f"- {words}: {', '.join(parts)}.")
    return "\n".join(lines)


def engines(measured):
    overview, rows = [], []
    for line, runs in measured:
        ways = {way: Times(runs, way) for way in (CALLED, LOOP)}
        called, loop = (f"{times.difference[0]:+.2f}" for times in ways.values())
        overview.append([line.engine, called, f"{ways[CALLED].run['empty_call_us']:.2f}", loop])
        rows += [[code(line.label), way.words, *times.cells()] for way, times in ways.items()]
    heads = ["engine", f"{CALLED.words}, µs", "of that, an empty call", LOOP.words]
    return f"{markdown(heads, overview)}\n\n{markdown(['command', '', *time_heads('native with a memcpy each way, µs')], rows)}"


def once(measured):
    rows = []
    for line, runs in measured:
        times = Times(runs, base="native")
        ratio = times.side[0] / times.base[0]
        rows.append([code(line.label), *times.cells(), f"{ratio:.2f}", f"{times.run['copies']:g}"])
    return markdown(["command", *time_heads("native, bound buffers, µs"), "ratio", "copies"], rows)


def wamr_peer(measured):
    rows = []
    for _, runs in measured:
        for way in (CALLED, LOOP):
            for side, words in (("peer", "WAMR's wasi-nn"), ("guest", "wasinn")):
                rows.append([words, way.words, *Times(runs, way, side).cells()])
    return markdown(["", "", *time_heads("native with a memcpy each way, µs")], rows)


def wasmtime_peer(measured):
    """Lines come in pairs, Wasmtime's wasi-nn and wasinn on the same model; native times are those of wasinn's line in the same round."""
    rows = []
    for (line, peers), (_, ours) in zip(measured[::2], measured[1::2]):
        rounds = [{part: {**own[part], "peer": peer[part]["peer"]} for part in ("p50_us", "p99_us")} for peer, own in zip(peers, ours)]
        for side, words in (("peer", "Wasmtime's wasi-nn"), ("guest", "wasinn")):
            rows.append([code(line.model), words, *Times(rounds, side=side).cells()])
    return markdown(["model", "", *time_heads("native with a memcpy each way, µs")], rows)
