//go:build wasip1

package component

import (
	"structs"
	"unsafe"
)

// The host's functions and records, in the layout of the canonical ABI. Addresses in records are uint32, because Go's pointers are 64
// bits wide and the host's 32.

type list struct {
	_         structs.HostLayout
	data, len uint32
}

// handle is that of an error, or of what was made.
type result struct {
	_       structs.HostLayout
	isError uint8
	_       [3]uint8
	handle  uint32
}

type namedTensor struct {
	_      structs.HostLayout
	name   list
	tensor uint32
}

type outputs struct {
	_                   structs.HostLayout
	isError             uint8
	_                   [3]uint8
	itemsOrError, count uint32
}

// The layouts are the host's, or this is no Go.
var (
	_ [8]byte  = [unsafe.Sizeof(list{})]byte{}
	_ [8]byte  = [unsafe.Sizeof(result{})]byte{}
	_ [12]byte = [unsafe.Sizeof(namedTensor{})]byte{}
	_ [12]byte = [unsafe.Sizeof(outputs{})]byte{}
)

//go:wasmimport wasi:nn/tensor@0.2.0-rc-2024-10-28 [constructor]tensor
func nnTensor(dims unsafe.Pointer, rank, dtype uint32, data unsafe.Pointer, size uint32) uint32

//go:wasmimport wasi:nn/tensor@0.2.0-rc-2024-10-28 [method]tensor.dimensions
func nnTensorDimensions(tensor uint32, dims *list)

//go:wasmimport wasi:nn/tensor@0.2.0-rc-2024-10-28 [method]tensor.ty
func nnTensorType(tensor uint32) uint32

//go:wasmimport wasi:nn/tensor@0.2.0-rc-2024-10-28 [method]tensor.data
func nnTensorData(tensor uint32, bytes *list)

//go:wasmimport wasi:nn/tensor@0.2.0-rc-2024-10-28 [resource-drop]tensor
func nnTensorDrop(tensor uint32)

//go:wasmimport wasi:nn/graph@0.2.0-rc-2024-10-28 load
func nnLoad(builders unsafe.Pointer, count, encoding, target uint32, graph *result)

//go:wasmimport wasi:nn/graph@0.2.0-rc-2024-10-28 load-by-name
func nnLoadByName(name string, graph *result)

//go:wasmimport wasi:nn/graph@0.2.0-rc-2024-10-28 [method]graph.init-execution-context
func nnInitExecutionContext(graph uint32, context *result)

//go:wasmimport wasi:nn/graph@0.2.0-rc-2024-10-28 [resource-drop]graph
func nnGraphDrop(graph uint32)

//go:wasmimport wasi:nn/inference@0.2.0-rc-2024-10-28 [method]graph-execution-context.compute
func nnCompute(context uint32, inputs unsafe.Pointer, count uint32, all *outputs)

//go:wasmimport wasi:nn/inference@0.2.0-rc-2024-10-28 [resource-drop]graph-execution-context
func nnContextDrop(context uint32)

//go:wasmimport wasi:nn/errors@0.2.0-rc-2024-10-28 [method]error.code
func nnErrorCode(err uint32) uint32

//go:wasmimport wasi:nn/errors@0.2.0-rc-2024-10-28 [method]error.data
func nnErrorData(err uint32, text *list)

//go:wasmimport wasi:nn/errors@0.2.0-rc-2024-10-28 [resource-drop]error
func nnErrorDrop(err uint32)
