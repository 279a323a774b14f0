"""The tables of docs/performance.md, which are made of reports, in Markdown.

A report is the JSON that `wasinn bench --json` prints (bench/README.md lists its keys), or a program of bench/peers. A
row shows one of the runs of a line, the one whose difference at the median is the median."""

import collections

# How a guest makes its inferences, and the keys of their times in a report.
Way = collections.namedtuple("Way", ["words", "p50", "p99"])
CALLED = Way("called each time", "p50_us", "p99_us")
LOOP = Way("in a loop of 16", "loop_us", "loop_p99_us")

LARGE = 100_000  # bytes of inputs; from here on, copies are most of the overhead of an inference


class Times:
    """The times of one side and of its comparison, from one of several runs."""

    def __init__(self, runs, way=CALLED, side="guest", base="native_copy"):
        ordered = sorted(runs, key=lambda run: run[way.p50][side] - run[way.p50][base])
        self.run = ordered[len(ordered) // 2]
        self.base, self.side = ([self.run[part][which] for part in (way.p50, way.p99)] for which in (base, side))
        self.difference = [side - base for side, base in zip(self.side, self.base)]

    @property
    def percent(self):
        return (self.side[0] / self.base[0] - 1) * 100

    def cells(self):
        """p50 and p99 of the comparison, of the side, and of the difference."""
        return [*(f"{us:.2f}" for us in (*self.base, *self.side)), *(f"{us:+.2f}" for us in self.difference)]


def markdown(heads, rows):
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def time_heads(base, side="guest"):
    return [f"{base}, p50", "p99", f"{side}, p50", "p99", "difference, p50", "p99"]


def code(label):
    return f"`{label}`"


def frameworks(measured):
    """`measured` has pairs of a line and its runs, as for all of these functions."""
    rows = []
    for line, runs in measured:
        times = Times(runs)
        *cells, p50, p99 = times.cells()
        run = times.run
        allocations = "n/a" if run["allocations"] is None else f"{run['allocations']:g}"
        native = f"{run['p50_us']['native']:.2f}"
        p50 = f"{p50} ({times.percent:+.0f} %)"
        rows.append([code(line.label), native, *cells, p50, p99, f"{run['copies']:g}", allocations])
    heads = ["command", "native, µs", *time_heads("with a memcpy each way"), "copies", "allocations"]
    return "\n\n".join([markdown(heads, rows), *filter(None, [in_short(measured)])])


def in_short(measured):
    """The lowest and the highest overhead of core modules and of components."""
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
    details = markdown(["command", "", *time_heads("native with a memcpy each way, µs")], rows)
    return f"{markdown(heads, overview)}\n\n{details}"


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
    """Lines come in pairs, Wasmtime's wasi-nn and wasinn on the same model. The native times are those of wasinn's line
    in the same round."""
    rows = []
    for (line, peers), (_, ours) in zip(measured[::2], measured[1::2]):
        rounds = [
            {part: {**own[part], "peer": peer[part]["peer"]} for part in ("p50_us", "p99_us")}
            for peer, own in zip(peers, ours)
        ]
        for side, words in (("peer", "Wasmtime's wasi-nn"), ("guest", "wasinn")):
            rows.append([code(line.model), words, *Times(rounds, side=side).cells()])
    return markdown(["model", "", *time_heads("native with a memcpy each way, µs")], rows)
