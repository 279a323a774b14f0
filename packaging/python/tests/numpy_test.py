"""Arrays of NumPy as tensors, and tensors as arrays of NumPy."""

import unittest

import numpy
import wasinn
from surroundings import DIGITS, InstalledTest


class NumpyTest(InstalledTest):
    def test_an_inference(self):
        with wasinn.Host() as host:
            host.add_model("digits", DIGITS["onnx"])
            with host.guest() as guest, guest.load_by_name("digits") as graph:
                image = numpy.zeros((2, 1, 8, 8), numpy.float32)
                scores = graph.compute({"image": image})["probabilities"].numpy()
                self.assertEqual((scores.dtype, scores.shape), (numpy.float32, (2, 10)))
                numpy.testing.assert_allclose(scores.sum(axis=1), 1, rtol=1e-5)
                with self.assertRaisesRegex(wasinn.Error, "given f64"):
                    graph.compute({"image": image.astype(numpy.float64)})

    def test_arrays_of_any_layout(self):
        whole = numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 4)
        frozen = whole.copy()
        frozen.flags.writeable = False
        for array in (
            whole,
            whole.T,
            whole[:, ::2],
            whole[::-1],
            numpy.asfortranarray(whole),
            frozen,
            numpy.float32(2),
            whole[:0],
        ):
            tensor = wasinn.Tensor.of(array)
            self.assertEqual(tensor.shape, array.shape)
            numpy.testing.assert_array_equal(tensor.numpy(), array)
            numpy.testing.assert_array_equal(numpy.asarray(tensor), array)

    def test_types(self):
        for name, dtype in (
            ("float16", "f16"),
            ("float32", "f32"),
            ("float64", "f64"),
            ("uint8", "u8"),
            ("int8", "i8"),
            ("uint16", "u16"),
            ("int16", "i16"),
            ("uint32", "u32"),
            ("int32", "i32"),
            ("uint64", "u64"),
            ("int64", "i64"),
            ("bool", "bool"),
        ):
            tensor = wasinn.Tensor.of(numpy.array([0, 1, 1], name))
            self.assertEqual(tensor.dtype, dtype)
            self.assertEqual(tensor.numpy().dtype, name)
        with self.assertRaisesRegex(TypeError, "found the format 'Zf'"):
            wasinn.Tensor.of(numpy.zeros(1, numpy.complex64))


if __name__ == "__main__":
    unittest.main()
