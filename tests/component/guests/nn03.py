"""For nn03_languages_test.py: infers with asynchronous wasi:nn. What it does, its first argument says."""

import asyncio
import struct
import sys

from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import graph
from wit_world.imports.tensor import Tensor, TensorType


async def open_context(model):
    return (await graph.load_by_name(model)).init_execution_context()


async def compute(context, value):
    outputs = await context.compute([("x", Tensor([1], TensorType.FP32, struct.pack("<f", value)))])
    return struct.unpack("<f", outputs[0][1].data())[0]


async def add(models):
    """Loads all models at once, computes with all at once, and prints the sum of the outputs: 1, 2, 3 …"""
    contexts = await asyncio.gather(*map(open_context, models))
    print(f"{sum(await asyncio.gather(*map(compute, contexts, range(1, len(models) + 1)))):g}")


async def speak(model, text):
    context = await open_context(model)
    pieces, outcome = context.compute_stream([("x", Tensor([1], TensorType.U8, text.encode()))])
    while read := await pieces.read(1):
        for name, piece in read:
            print(f"{name}: {piece.decode()}")
    end = await outcome.read()
    if isinstance(end, Err):
        raise end


class Run(exports.Run):
    async def run(self):
        word, *rest = sys.argv[1:]
        try:
            await (add(rest) if word == "add" else speak(*rest))
        except Err as error:
            print(error.value.data())
            raise Err(None) from None
