//go:build wasip1

package wasinn

import (
	"structs"
	"unsafe"
)

// The host's functions, and the records that they take. Addresses in them are uint32, because Go's pointers are 64 bits wide and
// the host's 32: see addressOf.

type builder struct {
	_    structs.HostLayout
	data uint32
	len  uint32
}

type tensor struct {
	_             structs.HostLayout
	dims, dimsLen uint32
	dtype         uint8
	_             [3]uint8
	data, dataLen uint32
}

// If name is 0, nameLen is the index.
type inputRecord struct {
	_             structs.HostLayout
	name, nameLen uint32
	tensor        tensor
}

type outputRecord struct {
	_                          structs.HostLayout
	name, nameLen              uint32
	buffer, bufferLen, written uint32
}

// The layouts are the host's, or this is no Go.
var (
	_ [8]byte  = [unsafe.Sizeof(builder{})]byte{}
	_ [20]byte = [unsafe.Sizeof(tensor{})]byte{}
	_ [28]byte = [unsafe.Sizeof(inputRecord{})]byte{}
	_ [20]byte = [unsafe.Sizeof(outputRecord{})]byte{}
)

// The standard's six.

//go:wasmimport wasi_ephemeral_nn load
func nnLoad(builders *builder, buildersLen, encoding, target uint32, graph *uint32) uint32

//go:wasmimport wasi_ephemeral_nn load_by_name
func nnLoadByName(name string, graph *uint32) uint32

//go:wasmimport wasi_ephemeral_nn init_execution_context
func nnInitExecutionContext(graph uint32, context *uint32) uint32

//go:wasmimport wasi_ephemeral_nn set_input
func nnSetInput(context, index uint32, input *tensor) uint32

//go:wasmimport wasi_ephemeral_nn compute
func nnCompute(context uint32) uint32

//go:wasmimport wasi_ephemeral_nn get_output
func nnGetOutput(context, index uint32, buffer unsafe.Pointer, size uint32, written *uint32) uint32

// WasmEdge's additions.

//go:wasmimport wasi_ephemeral_nn load_by_name_with_config
func nnLoadByNameWithConfig(name, config string, graph *uint32) uint32

//go:wasmimport wasi_ephemeral_nn unload
func nnUnload(graph uint32) uint32

//go:wasmimport wasi_ephemeral_nn finalize_execution_context
func nnFinalizeExecutionContext(context uint32) uint32

//go:wasmimport wasi_ephemeral_nn compute_single
func nnComputeSingle(context uint32) uint32

//go:wasmimport wasi_ephemeral_nn get_output_single
func nnGetOutputSingle(context, index uint32, buffer unsafe.Pointer, size uint32, written *uint32) uint32

//go:wasmimport wasi_ephemeral_nn fini_single
func nnFiniSingle(context uint32) uint32

// wasinn's own.

//go:wasmimport wasinn_ext_0 last_error
func extLastError(buffer unsafe.Pointer, size uint32, written *uint32) uint32

//go:wasmimport wasinn_ext_0 describe
func extDescribe(graph uint32, buffer unsafe.Pointer, size uint32, written *uint32) uint32

//go:wasmimport wasinn_ext_0 load_as
func extLoadAs(builders *builder, buildersLen uint32, format string, target uint32, graph *uint32) uint32

//go:wasmimport wasinn_ext_0 set_input_by_name
func extSetInputByName(context uint32, name string, input *tensor) uint32

//go:wasmimport wasinn_ext_0 get_output_by_name
func extGetOutputByName(context uint32, name string, buffer unsafe.Pointer, size uint32, written *uint32) uint32

//go:wasmimport wasinn_ext_0 set_output
func extSetOutput(context, index uint32, buffer unsafe.Pointer, size uint32, written *uint32) uint32

//go:wasmimport wasinn_ext_0 set_output_by_name
func extSetOutputByName(context uint32, name string, buffer unsafe.Pointer, size uint32, written *uint32) uint32

//go:wasmimport wasinn_ext_0 set_input_from_output
func extSetInputFromOutput(context, index, from, outputIndex uint32) uint32

//go:wasmimport wasinn_ext_0 compute_once
func extComputeOnce(contextOrGraph uint32, inputs *inputRecord, inputsLen uint32, outputs *outputRecord, outputsLen uint32) uint32
