"""Makes the models of this folder: frozen graphs (NAME.pb) and SavedModels (NAME/)."""

import os
import pathlib
import shutil
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

tf1 = tf.compat.v1
HERE = pathlib.Path(__file__).resolve().parent

TYPES = {
    "f16": tf.float16, "bf16": tf.bfloat16, "f32": tf.float32, "f64": tf.float64, "u8": tf.uint8, "i8": tf.int8,
    "u16": tf.uint16, "i16": tf.int16, "u32": tf.uint32, "i32": tf.int32, "u64": tf.uint64, "i64": tf.int64,
    "bool": tf.bool, "string": tf.string, "complex64": tf.complex64,
}  # fmt: skip


def frozen(name, build):
    graph = tf1.Graph()
    with graph.as_default():
        build()
    (HERE / f"{name}.pb").write_bytes(graph.as_graph_def().SerializeToString(deterministic=True))


def placeholder(shape, dtype=tf.float32, name="x"):
    return tf1.placeholder(dtype, shape, name=name)


def add_frozen():
    for name, dtype in TYPES.items():
        frozen(f"identity_{name}", lambda dtype=dtype: tf.identity(placeholder([2, 3], dtype), name="y"))
    frozen("identity_scalar", lambda: tf.identity(placeholder([]), name="y"))
    frozen("identity_empty", lambda: tf.identity(placeholder([0, 3]), name="y"))
    frozen("unknown_rank", lambda: tf.negative(placeholder(None), name="y"))
    frozen("dynamic", lambda: tf.nn.relu(placeholder([None, None]), name="y"))
    frozen("relu", lambda: tf.nn.relu(placeholder([1, 3, 224, 224]), name="y"))
    frozen("mean", lambda: tf.reduce_mean(placeholder([1, 3, 8, 8], name="image"), [2, 3], name="mean"))
    frozen("nonzero", lambda: tf.where(placeholder([2, 3]), name="indices"))
    frozen("sum", lambda: tf.reduce_sum(placeholder([1, 5, 5, 1]), [1, 2, 3], keepdims=True, name="y"))
    frozen("max", lambda: tf.reduce_max(placeholder([1, 5, 5, 1]), [1, 2, 3], keepdims=True, name="y"))
    frozen("average", lambda: tf.nn.avg_pool2d(placeholder([1, 5, 5, 1]), 5, 1, "VALID", name="y"))
    frozen("mult_dimension", lambda: tf.add(placeholder([1, 3, 3, 1]), 1.0, name="y"))
    frozen("unique", lambda: tf.unique(placeholder([6], tf.int32), name="unique"))
    frozen("unique_string", lambda: tf.strings.as_string(placeholder([2]), name="text"))
    frozen("mult_output", mult_output)
    frozen("two_in_two_out", two_in_two_out)
    frozen("optional_input", optional_input)
    frozen("endless", endless)
    frozen("huge_output", lambda: tf.fill(placeholder([None], tf.int64, "shape"), 1.0, name="y"))
    frozen("function", function)
    frozen("matmul", lambda: tf.matmul(placeholder([64, 64]), tf.ones([64, 64]), name="y"))


def mult_output():
    x = placeholder([1, 4, 4, 1])
    tf.nn.avg_pool2d(x, 2, 2, "VALID", name="average")
    tf.nn.max_pool2d(x, 2, 2, "VALID", name="largest")


def two_in_two_out():
    # In the graph in another order than by name.
    b, a = placeholder([2, 2], name="b"), placeholder([2, 2], name="a")
    tf.add(a, b, name="sum")
    tf.subtract(a, b, name="difference")


def optional_input():
    x = placeholder([2])
    offset = tf1.placeholder_with_default(tf.constant([10.0, 20.0]), [2], name="offset")
    tf.add(x, offset, name="y")


def endless():
    tf1.enable_control_flow_v2()
    x = placeholder([1])
    most = tf.constant(2**62, tf.int64)
    _, y = tf1.while_loop(lambda i, _: i < most, lambda i, y: (i + 1, y * 1.0000001), [tf.constant(0, tf.int64), x])
    tf.identity(y, name="y")


def function():
    @tf.function
    def twice(x):
        return x + x

    tf.identity(twice(placeholder([2])), name="y")


class TwoSignatures(tf.Module):
    def __init__(self):
        super().__init__()
        self.factor = tf.Variable([2.0, 3.0], name="factor")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], name="x"), tf.TensorSpec([2], name="bias")])
    def scale(self, x, bias):
        return {"scaled": x * self.factor + bias, "rows": tf.shape(x)[0], "again": x}

    @tf.function(input_signature=[tf.TensorSpec([2], name="x")])
    def negate(self, x):
        return {"negative": -x * self.factor, "text": tf.strings.as_string(x)}


class Counter(tf.Module):
    def __init__(self):
        super().__init__()
        self.last = tf.Variable([0.0, 0.0], name="last")

    @tf.function(input_signature=[tf.TensorSpec([2], name="x")])
    def swap(self, x):
        """Keeps its input until the next call, and gives back the last one."""
        before = tf.identity(self.last.read_value()) + 0.0
        with tf.control_dependencies([before]):
            self.last.assign(x)
        return {"before": before}


class Endless(tf.Module):
    def __init__(self):
        super().__init__()
        self.factor = tf.Variable([2.0], name="factor")

    @tf.function(input_signature=[tf.TensorSpec([1], name="x")])
    def rounds(self, x):
        """As many rounds as x says."""
        y = tf.zeros([1])
        while tf.reduce_all(y < x):
            y += self.factor / 2.0
        return {"y": y}


class Vocabulary(tf.Module):
    def __init__(self, file):
        super().__init__()
        self.file = tf.saved_model.Asset(file)
        self.table = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                self.file,
                tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
                tf.string,
                tf.lookup.TextFileIndex.WHOLE_LINE,
            ),
            "",
        )

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64, name="x")])
    def lookup(self, x):
        return {"lengths": tf.strings.length(self.table.lookup(x))}


def saved(name, module, signatures):
    shutil.rmtree(HERE / name, ignore_errors=True)
    options = tf.saved_model.SaveOptions(save_debug_info=False)
    tf.saved_model.save(module, HERE / name, signatures=signatures, options=options)


def two_tags():
    """As TensorFlow 1 saves: an output that is an input, the same tensor twice, two graphs of different tags."""
    shutil.rmtree(HERE / "two_tags", ignore_errors=True)
    builder = tf1.saved_model.Builder(str(HERE / "two_tags"))
    for tags, factor in ((["serve"], 2.0), (["serve", "tenfold"], 10.0)):
        with tf1.Graph().as_default(), tf1.Session() as session:
            x = tf1.placeholder(tf.float32, [2], name="x")
            weight = tf1.get_variable("weight", initializer=1.0, use_resource=True)
            y = tf.multiply(x * factor, weight, name="y")
            session.run(tf1.global_variables_initializer())
            signature = tf1.saved_model.predict_signature_def({"x": x}, {"y": y, "again": y, "same": x})
            add = builder.add_meta_graph if tags != ["serve"] else builder.add_meta_graph_and_variables
            arguments = (tags,) if tags != ["serve"] else (session, tags)
            add(*arguments, signature_def_map={"serving_default": signature})
    builder.save()


def main():
    add_frozen()
    two = TwoSignatures()
    saved("two_signatures", two, {"serving_default": two.scale, "negate": two.negate})
    counter = Counter()
    saved("counter", counter, counter.swap)
    endless_module = Endless()
    saved("endless_saved", endless_module, endless_module.rounds)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "words.txt"
        file.write_text("one\nthree\nfive\n")
        vocabulary = Vocabulary(str(file))
        saved("vocabulary", vocabulary, vocabulary.lookup)
    two_tags()


if __name__ == "__main__":
    main()
