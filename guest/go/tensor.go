//go:build wasip1

package wasinn

import (
	"runtime"
	"unsafe"
)

// F16 is the bits of a half-precision number.
type F16 uint16

// Element is an element of a tensor. The standard has no numbers for some types. wasinn takes others for them: u8 for int8, i32
// for uint32, i64 for uint64. i16, u16 and bf16 are bytes with the last dimension doubled. bool is bytes.
type Element interface {
	F16 | float32 | float64 | uint8 | int8 | int32 | uint32 | int64 | uint64
}

// typeOf returns wasi-nn's number of the type.
func typeOf[T Element]() uint8 {
	var zero T
	switch any(zero).(type) {
	case F16:
		return 0
	case float32:
		return 1
	case float64:
		return 2
	case int32, uint32:
		return 4
	case int64, uint64:
		return 5
	}
	return 3
}

func sizeOf[T Element](data []T) int {
	var zero T
	return len(data) * int(unsafe.Sizeof(zero))
}

// addressOf gives the address of size bytes for a record. A number keeps nothing alive, nor in its place: the pinner does, and has what
// lies on a stack, which may move, put on the heap.
func addressOf(pinner *runtime.Pinner, data unsafe.Pointer, size int) uint32 {
	if size == 0 {
		return 0
	}
	pinner.Pin(data)
	return uint32(uintptr(data))
}

// view is an input tensor, before its addresses are taken.
type view struct {
	dims  []uint32
	dtype uint8
	data  unsafe.Pointer
	size  int
}

func viewOf[T Element](data []T, dims []uint32) view {
	return view{dims: dims, dtype: typeOf[T](), data: unsafe.Pointer(unsafe.SliceData(data)), size: sizeOf(data)}
}

// record is valid until the pinner unpins. The host checks that the data fit the dims.
func (v view) record(pinner *runtime.Pinner) tensor {
	return tensor{
		dims: addressOf(pinner, unsafe.Pointer(unsafe.SliceData(v.dims)), 4*len(v.dims)), dimsLen: uint32(len(v.dims)),
		dtype: v.dtype,
		data:  addressOf(pinner, v.data, v.size), dataLen: uint32(v.size),
	}
}

// filler is a function like get_output.
type filler func(buffer unsafe.Pointer, size uint32, written *uint32) uint32

// fill calls the function with the slice, and returns how many elements it wrote.
func fill[T Element](call string, out []T, function filler) (int, error) {
	var zero T
	var written uint32
	room := sizeOf(out)
	code := function(unsafe.Pointer(unsafe.SliceData(out)), uint32(room), &written)
	bytes := int(written)
	if Errno(code) == TooLarge && bytes > room { // not every host reports the size
		return 0, &Error{Call: call, Errno: TooLarge, Needed: bytes}
	}
	if err := check(call, code); err != nil {
		return 0, err
	}
	if size := int(unsafe.Sizeof(zero)); bytes <= room && bytes%size == 0 {
		return bytes / size, nil
	}
	// These are not whole elements: the output has another type than T.
	return 0, &Error{Call: call, Errno: InvalidArgument}
}

// fillSlice returns all elements that the function writes. It asks for their size first.
func fillSlice[T Element](call string, function filler) ([]T, error) {
	var zero T
	out := []T{}
	for {
		count, err := fill(call, out, function)
		if err == nil {
			return out[:count], nil
		}
		needed := err.(*Error).Needed
		if needed == 0 {
			return nil, err
		}
		size := int(unsafe.Sizeof(zero))
		out = make([]T, (needed+size-1)/size)
	}
}
