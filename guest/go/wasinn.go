//go:build wasip1

// Package wasinn is for guests: programs in WebAssembly that have the host run machine-learning models, through the standard
// interface wasi-nn.
//
//	graph, err := wasinn.LoadByName("digits")
//	context, err := graph.InitExecutionContext()
//	err = wasinn.SetInput(context, 0, image, 1, 1, 8, 8)
//	err = context.Compute()
//	scores, err := wasinn.GetOutputSlice[float32](context, 0)
//
// Three sets of functions, for core modules (GOOS=wasip1 GOARCH=wasm):
//   - the standard's six (module wasi_ephemeral_nn), which every host of wasi-nn has;
//   - what WasmEdge added to that module: on WasmEdge and wasinn;
//   - wasinn's own (module wasinn_ext_0), on wasinn alone: LastError, Describe, LoadAs, all that goes by names, ComputeOnce,
//     SetInputFromOutput, SelectOutput and SetOutput.
//
// They carry the names that they have there; those whose element type varies are functions, for Go has no generic methods. A guest
// imports what it calls, and no more: one that calls the standard's six runs everywhere.
package wasinn

import (
	"runtime"
	"unsafe"
)

// Encoding is the format of a model's bytes, as wasi-nn numbers it. A host may know more numbers than these, and every format by
// its name: LoadAs.
type Encoding uint32

const (
	OpenVINO       Encoding = 0 // two parts: the .xml file, then the .bin file
	ONNX           Encoding = 1
	TensorFlow     Encoding = 2 // a frozen GraphDef
	PyTorch        Encoding = 3 // a TorchScript archive
	TensorFlowLite Encoding = 4
	Autodetect     Encoding = 5 // the host looks at the bytes
)

// Target is where a model shall run.
type Target uint32

const (
	CPU  Target = 0
	GPU  Target = 1
	TPU  Target = 2
	Auto Target = 3 // not in the standard: hosts that choose themselves, as wasinn does
)

// Graph is a loaded model: a number that the host understands. It lives until the guest ends, or until Unload.
type Graph struct{ handle uint32 }

// Load loads the model that these parts are. A host may refuse models from guests altogether.
func Load(parts [][]byte, encoding Encoding, target Target) (graph Graph, err error) {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	builders := buildersOf(&pinner, parts)
	code := nnLoad(unsafe.SliceData(builders), uint32(len(builders)), uint32(encoding), uint32(target), &graph.handle)
	return graph, check("load", code)
}

// LoadByName gives the model that the host offers under this name. The host loads it once for all its guests.
func LoadByName(name string) (graph Graph, err error) {
	return graph, check("load_by_name", nnLoadByName(name, &graph.handle))
}

// LoadByNameWithConfig is LoadByName with a JSON object of keys that the model's framework lets guests set: WasmEdge's and wasinn's.
func LoadByNameWithConfig(name, config string) (graph Graph, err error) {
	return graph, check("load_by_name_with_config", nnLoadByNameWithConfig(name, config, &graph.handle))
}

// LoadAs is Load by the name of the format: "onnx", any other that the host's backends serve, or "autodetect". wasinn's.
func LoadAs(parts [][]byte, format string, target Target) (graph Graph, err error) {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	builders := buildersOf(&pinner, parts)
	code := extLoadAs(unsafe.SliceData(builders), uint32(len(builders)), format, uint32(target), &graph.handle)
	return graph, check("load_as", code)
}

// InitExecutionContext makes a context in which to run the model. Use it again and again: making one is much dearer than computing
// with it.
func (g Graph) InitExecutionContext() (context Context, err error) {
	return context, check("init_execution_context", nnInitExecutionContext(g.handle, &context.handle))
}

// Describe tells what the model takes and gives, as JSON:
// {"backend": "onnx", "inputs": [{"name": "x", "type": "f32", "shape": [1, -1]}], …}. wasinn's.
func (g Graph) Describe() (string, error) {
	text, err := fillSlice[byte]("describe", func(buffer unsafe.Pointer, size uint32, written *uint32) uint32 {
		return extDescribe(g.handle, buffer, size, written)
	})
	return string(text), err
}

// ComputeOnce is that of Context, on a context of its own, which takes some µs more. wasinn's.
func (g Graph) ComputeOnce(inputs []Input, outputs []Output) error {
	return computeOnce(g.handle, inputs, outputs)
}

// Unload gives the graph back. Contexts of it go on; its memory goes with the last of them. WasmEdge's and wasinn's.
func (g Graph) Unload() error { return check("unload", nnUnload(g.handle)) }

// Handle is the host's number for it.
func (g Graph) Handle() uint32 { return g.handle }

// LastError tells what the last error of this guest was, in words: "set_input: invalid_argument: …". It stays until the next error;
// a buffer that is too small is none. wasinn's.
func LastError() (string, error) {
	text, err := fillSlice[byte]("last_error", extLastError)
	return string(text), err
}

func buildersOf(pinner *runtime.Pinner, parts [][]byte) []builder {
	builders := make([]builder, len(parts))
	for i, part := range parts {
		builders[i] = builder{data: addressOf(pinner, unsafe.Pointer(unsafe.SliceData(part)), len(part)), len: uint32(len(part))}
	}
	return builders
}
