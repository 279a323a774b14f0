package main

// The functions of wasi-nn, and WasmEdge's streaming ones, that this program calls. Records are passed by address; their
// fields that are addresses are uint32, for pointers of Go are 64 bits wide and those of the host 32.

import (
	"fmt"
	"runtime"
	"unsafe"
)

const (
	success       = 0
	tooLarge      = 7
	endOfSequence = 100
	contextFull   = 101
	typeU8        = 3
)

type tensor struct {
	dims, dimsLen uint32
	dtype         uint8
	data, dataLen uint32
}

//go:wasmimport wasi_ephemeral_nn load_by_name
func nnLoadByName(name unsafe.Pointer, nameLen uint32, graph unsafe.Pointer) uint32

//go:wasmimport wasi_ephemeral_nn load_by_name_with_config
func nnLoadByNameWithConfig(name unsafe.Pointer, nameLen uint32, config unsafe.Pointer, configLen uint32, graph unsafe.Pointer) uint32

//go:wasmimport wasi_ephemeral_nn init_execution_context
func nnInitExecutionContext(graph uint32, context unsafe.Pointer) uint32

//go:wasmimport wasi_ephemeral_nn set_input
func nnSetInput(context, index uint32, input unsafe.Pointer) uint32

//go:wasmimport wasi_ephemeral_nn get_output
func nnGetOutput(context, index uint32, buffer unsafe.Pointer, size uint32, written unsafe.Pointer) uint32

//go:wasmimport wasi_ephemeral_nn compute_single
func nnComputeSingle(context uint32) uint32

//go:wasmimport wasi_ephemeral_nn get_output_single
func nnGetOutputSingle(context, index uint32, buffer unsafe.Pointer, size uint32, written unsafe.Pointer) uint32

//go:wasmimport wasi_ephemeral_nn fini_single
func nnFiniSingle(context uint32) uint32

var errorNames = map[uint32]string{
	1: "invalid_argument", 2: "invalid_encoding", 3: "missing_memory", 4: "busy", 5: "runtime_error",
	6: "unsupported_operation", 7: "too_large", 8: "not_found", 100: "end_of_sequence", 101: "context_full",
	102: "prompt_too_long", 103: "model_not_found",
}

type nnError struct {
	call string
	code uint32
}

func (e *nnError) Error() string {
	name := errorNames[e.code]
	if name == "" {
		name = "unknown error"
	}
	return fmt.Sprintf("%s: %s (%d)", e.call, name, e.code)
}

func check(call string, code uint32) error {
	if code == success {
		return nil
	}
	return &nnError{call, code}
}

// load takes a model of the host's. An empty config is none.
func load(name, config string) (graph uint32, err error) {
	if config == "" {
		return graph, check("load_by_name", nnLoadByName(unsafe.Pointer(unsafe.StringData(name)), uint32(len(name)),
			unsafe.Pointer(&graph)))
	}
	return graph, check("load_by_name_with_config", nnLoadByNameWithConfig(unsafe.Pointer(unsafe.StringData(name)),
		uint32(len(name)), unsafe.Pointer(unsafe.StringData(config)), uint32(len(config)), unsafe.Pointer(&graph)))
}

func initExecutionContext(graph uint32) (context uint32, err error) {
	return context, check("init_execution_context", nnInitExecutionContext(graph, unsafe.Pointer(&context)))
}

// setInput sets input index to text.
func setInput(context, index uint32, text string) error {
	bytes, dims := []byte(text), []uint32{uint32(len(text))}
	// The record's numbers keep nothing alive, nor in its place.
	var pinner runtime.Pinner
	defer pinner.Unpin()
	pinner.Pin(&dims[0])
	record := tensor{dims: address(&dims[0]), dimsLen: 1, dtype: typeU8, dataLen: uint32(len(bytes))}
	if len(bytes) > 0 {
		pinner.Pin(&bytes[0])
		record.data = address(&bytes[0])
	}
	return check("set_input", nnSetInput(context, index, unsafe.Pointer(&record)))
}

func address[T any](value *T) uint32 { return uint32(uintptr(unsafe.Pointer(value))) }

type getter func(context, index uint32, buffer unsafe.Pointer, size uint32, written unsafe.Pointer) uint32

// get asks again with a larger buffer where the first was too small.
func get(call string, function getter, context, index uint32) ([]byte, error) {
	buffer := make([]byte, 4096)
	for {
		var written uint32
		code := function(context, index, unsafe.Pointer(&buffer[0]), uint32(len(buffer)), unsafe.Pointer(&written))
		if code != tooLarge || int(written) <= len(buffer) {
			return buffer[:min(int(written), len(buffer))], check(call, code)
		}
		buffer = make([]byte, written)
	}
}

func getOutput(context, index uint32) ([]byte, error) {
	return get("get_output", nnGetOutput, context, index)
}

func getOutputSingle(context, index uint32) ([]byte, error) {
	return get("get_output_single", nnGetOutputSingle, context, index)
}
