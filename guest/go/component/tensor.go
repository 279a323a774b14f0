//go:build wasip1

package component

import (
	"runtime"
	"slices"
	"unsafe"
)

// Type is the type of a tensor's elements.
type Type uint32

const (
	FP16 Type = 0
	FP32 Type = 1
	FP64 Type = 2
	BF16 Type = 3
	U8   Type = 4
	I32  Type = 5
	I64  Type = 6
)

// In bytes.
var sizes = [...]int{FP16: 2, FP32: 4, FP64: 8, BF16: 2, U8: 1, I32: 4, I64: 8}

// F16 is the bits of a half-precision number.
type F16 uint16

// Element is an element of a tensor. The standard has no types for some of them. wasinn takes others for them: U8 for int8 and bool,
// I32 for uint32, I64 for uint64.
type Element interface {
	F16 | float32 | float64 | uint8 | int8 | int32 | uint32 | int64 | uint64
}

func typeOf[T Element]() Type {
	var zero T
	switch any(zero).(type) {
	case F16:
		return FP16
	case float32:
		return FP32
	case float64:
		return FP64
	case int32, uint32:
		return I32
	case int64, uint64:
		return I64
	}
	return U8
}

// Tensor is what goes into a model, or comes out.
type Tensor struct{ handle uint32 }

// NewTensor makes a tensor of a shape, with a copy of the data. No dims are a single value. If the data do not fit the shape, Compute
// returns an error.
func NewTensor[T Element](data []T, dims ...uint32) Tensor {
	if len(dims) == 0 {
		dims = []uint32{1}
	}
	bytes := unsafe.Pointer(unsafe.SliceData(data))
	return Tensor{nnTensor(unsafe.Pointer(unsafe.SliceData(dims)), uint32(len(dims)), uint32(typeOf[T]()), bytes, uint32(len(data)*sizeOf[T]()))}
}

// Dimensions returns the shape.
func (t Tensor) Dimensions() []uint32 {
	var dims list
	begin(small[:])
	defer end()
	nnTensorDimensions(t.handle, &dims)
	return slices.Clone(listIn[uint32](dims))
}

// Type returns the type of the elements.
func (t Tensor) Type() Type { return Type(nnTensorType(t.handle)) }

// Data returns the tensor's elements. T must have their size.
func Data[T Element](t Tensor) []T {
	size := sizes[t.Type()]
	for _, dim := range t.Dimensions() {
		size *= int(dim)
	}
	values := make([]T, size/sizeOf[T]())
	var bytes list
	begin(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), size))
	defer end()
	nnTensorData(t.handle, &bytes)
	return values
}

// Drop drops the tensor.
func (t Tensor) Drop() { nnTensorDrop(t.handle) }

func sizeOf[T any]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}

// listOf gives the host the address of data. A number keeps nothing alive: the pinner does.
func listOf(pinner *runtime.Pinner, data unsafe.Pointer, length int) list {
	if length == 0 {
		return list{}
	}
	pinner.Pin(data)
	return list{data: uint32(uintptr(data)), len: uint32(length)}
}
