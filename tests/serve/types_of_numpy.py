"""Each datatype that numpy has, for clients that send its arrays."""

import numpy as np

# The protocol's name, the echo backend's word, and numbers that only this type can hold.
ARRAYS = {
    "BOOL": ("bool", np.array([True, False, True])),
    "UINT8": ("u8", np.array([0, 7, 255], np.uint8)),
    "UINT16": ("u16", np.array([0, 7, 65535], np.uint16)),
    "UINT32": ("u32", np.array([0, 7, 2**32 - 1], np.uint32)),
    "UINT64": ("u64", np.array([0, 7, 2**64 - 1], np.uint64)),
    "INT8": ("i8", np.array([-128, 7, 127], np.int8)),
    "INT16": ("i16", np.array([-(2**15), 7, 2**15 - 1], np.int16)),
    "INT32": ("i32", np.array([-(2**31), 7, 2**31 - 1], np.int32)),
    "INT64": ("i64", np.array([-(2**63), 7, 2**63 - 1], np.int64)),
    "FP16": ("f16", np.array([-1.5, 0.1, 65504], np.float16)),
    "FP32": ("f32", np.array([-1.5, 0.1, 3e38], np.float32)),
    "FP64": ("f64", np.array([-1.5, 0.1, 1e308], np.float64)),
}
# Columns, for some clients make these of arrays that have one dimension alone.
ARRAYS = {name: (word, array.reshape(3, 1)) for name, (word, array) in ARRAYS.items()}
# A model of each, which gives back what it gets.
MODELS = {word: f"in x {word} -1,1\n" for word, _ in ARRAYS.values()}
