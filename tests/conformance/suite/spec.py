"""The lines of the specification that expectations rest on.

witx: wasi-nn.witx, as Wasmtime 48 carries it (crates/wasi-nn/witx). It refers to the WIT for what things mean, so both forms rest on
that: wasi-nn.wit of 0.2.0-rc-2024-10-28. abi: CanonicalABI.md of the component model, by the name of its function.
"""

LINES = {
    "witx missing_memory": ("wasi-nn.witx", 10),
    "witx not_found": ("wasi-nn.witx", 15),
    "witx tensor_type": ("wasi-nn.witx", 19),
    "witx memory": ("wasi-nn.witx", 60),
    "witx load": ("wasi-nn.witx", 61),
    "witx load_by_name": ("wasi-nn.witx", 67),
    "witx init_execution_context": ("wasi-nn.witx", 71),
    "witx set_input": ("wasi-nn.witx", 75),
    "witx get_output": ("wasi-nn.witx", 81),
    "witx buffer_size": ("wasi-nn.witx", 86),
    "witx compute": ("wasi-nn.witx", 88),
    "dimensions": ("wasi-nn.wit", 22),
    "tensor-type": ("wasi-nn.wit", 27),
    "tensor-data": ("wasi-nn.wit", 40),
    "constructor": ("wasi-nn.wit", 47),
    "scalar": ("wasi-nn.wit", 50),
    "ty": ("wasi-nn.wit", 54),
    "data": ("wasi-nn.wit", 57),
    "init-execution-context": ("wasi-nn.wit", 70),
    "builder": ("wasi-nn.wit", 94),
    "load": ("wasi-nn.wit", 99),
    "load-by-name": ("wasi-nn.wit", 106),
    "named-tensor": ("wasi-nn.wit", 115),
    "compute": ("wasi-nn.wit", 125),
    "invalid-argument": ("wasi-nn.wit", 132),
    "invalid-encoding": ("wasi-nn.wit", 134),
    "timeout": ("wasi-nn.wit", 136),
    "not-found": ("wasi-nn.wit", 144),
    "security": ("wasi-nn.wit", 146),
    "error data": ("wasi-nn.wit", 158),
}
ENUM = "CanonicalABI.md, load_variant: trap_if(case_index >= len(cases))"
HANDLE = "CanonicalABI.md, lift_borrow and lift_own: a handle that is none traps"


def at(*names):
    """wasi-nn.wit:40"""
    return ", ".join(f"{LINES[name][0]}:{LINES[name][1]}" for name in names)
