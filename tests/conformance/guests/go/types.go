package main

import (
	"math"

	"wasinn"
)

// through prints what goes through a model that gives what it takes, as elements of T on both sides.
func through[T wasinn.Element](model string, data []T, dims ...uint32) {
	context := contextOf(wasinn.LoadByName(model))
	must(wasinn.SetInput(context, 0, data, dims...))
	must(context.Compute())
	print(model, got(wasinn.GetOutputSlice[T](context, 0)))
}

func types() {
	zero, infinity := math.Copysign(0, -1), math.Inf(1)
	through("identity_f16", []wasinn.F16{0x3c00, 0, 0xc000, 0x7bff, 1, 0x8000}, 2, 3)
	through("identity_f32", []float32{1.5, float32(zero), math.MaxFloat32, 0x1p-126, float32(infinity), -2.5}, 2, 3)
	through("identity_f64", []float64{1.5, zero, math.MaxFloat64, 0x1p-1022, infinity, -2.5}, 2, 3)
	through("identity_u8", []uint8{0, 1, 127, 128, 254, 255}, 2, 3)
	through("identity_i8", []int8{0, 1, 127, -128, -2, -1}, 2, 3)
	through("identity_i32", []int32{0, 1, math.MaxInt32, math.MinInt32, -2, -1}, 2, 3)
	through("identity_u32", []uint32{0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, math.MaxUint32}, 2, 3)
	through("identity_i64", []int64{0, 1, math.MaxInt64, math.MinInt64, -2, -1}, 2, 3)
	through("identity_u64", []uint64{0, 1, math.MaxInt64, 1 << 63, math.MaxUint64 - 1, math.MaxUint64}, 2, 3)
	through("identity_scalar", []float32{7})
	through("identity_empty", []float32{}, 0, 3)
}
