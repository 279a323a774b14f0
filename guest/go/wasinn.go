//go:build wasip1

// Package wasinn is for guests: WebAssembly programs. The host runs machine-learning models for them, through the standard
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
//   - wasinn's own (module wasinn_ext_0), only on wasinn: LastError, Describe, LoadAs, all that goes by names, ComputeOnce,
//     SetInputFromOutput, SelectOutput and SetOutput.
//
// They have the names of those modules. If an element type varies, it is a function, because Go has no generic methods. A guest
// imports only what it calls. So a guest that calls only the standard's six runs on every host.
package wasinn

import (
	"runtime"
	"unsafe"
)

// Encoding is the format of a model's bytes, with wasi-nn's numbers. A host may know more formats; LoadAs takes their names.
type Encoding uint32

const (
	OpenVINO       Encoding = 0 // two parts: the .xml file, then the .bin file
	ONNX           Encoding = 1
	TensorFlow     Encoding = 2 // a frozen GraphDef
	PyTorch        Encoding = 3 // a TorchScript archive
	TensorFlowLite Encoding = 4
	Autodetect     Encoding = 5 // the host looks at the bytes
)

// Target is where a model runs.
type Target uint32

const (
	CPU  Target = 0
	GPU  Target = 1
	TPU  Target = 2
	Auto Target = 3 // not in the standard: hosts that choose themselves, as wasinn does
)

// Graph is a loaded model. It is a plain number; the host knows its meaning. It lives until the guest ends, or until Unload.
type Graph struct{ handle uint32 }

// Load loads a model from its parts. A host may refuse all models from guests.
func Load(parts [][]byte, encoding Encoding, target Target) (graph Graph, err error) {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	builders := buildersOf(&pinner, parts)
	code := nnLoad(unsafe.SliceData(builders), uint32(len(builders)), uint32(encoding), uint32(target), &graph.handle)
	return graph, check("load", code)
}

// LoadByName gets a model that the host offers under a name. The host loads it once for all its guests.
func LoadByName(name string) (graph Graph, err error) {
	code := nnLoadByName(name, &graph.handle)
	return graph, check("load_by_name", code)
}

// LoadByNameWithConfig is LoadByName with a configuration: a JSON object of keys that the model's framework lets guests set. Only
// on WasmEdge and wasinn.
func LoadByNameWithConfig(name, config string) (graph Graph, err error) {
	code := nnLoadByNameWithConfig(name, config, &graph.handle)
	return graph, check("load_by_name_with_config", code)
}

// LoadAs is Load by the format's name: "onnx", any other format of the host's backends, or "autodetect". Only on wasinn.
func LoadAs(parts [][]byte, format string, target Target) (graph Graph, err error) {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	builders := buildersOf(&pinner, parts)
	code := extLoadAs(unsafe.SliceData(builders), uint32(len(builders)), format, uint32(target), &graph.handle)
	return graph, check("load_as", code)
}

// InitExecutionContext makes a context for inferences on the model. Use it for many: to make a context costs much more than one
// compute.
func (g Graph) InitExecutionContext() (context Context, err error) {
	code := nnInitExecutionContext(g.handle, &context.handle)
	return context, check("init_execution_context", code)
}

// Describe returns the model's inputs and outputs, as JSON: {"backend": "onnx", "inputs": [{"name": "x", "type": "f32", "shape":
// [1, -1]}], …}. Only on wasinn.
func (g Graph) Describe() (string, error) {
	text, err := fillSlice[byte]("describe", func(buffer unsafe.Pointer, size uint32, written *uint32) uint32 {
		return extDescribe(g.handle, buffer, size, written)
	})
	return string(text), err
}

// ComputeOnce is Context's, with a context for this call only, which takes some µs more. Only on wasinn.
func (g Graph) ComputeOnce(inputs []Input, outputs []Output) error {
	return computeOnce(g.handle, inputs, outputs)
}

// Unload frees the graph. Contexts of it still work; its memory is freed with the last of them. Only on WasmEdge and wasinn.
func (g Graph) Unload() error { return check("unload", nnUnload(g.handle)) }

// Handle is the host's number for it.
func (g Graph) Handle() uint32 { return g.handle }

// LastError returns the message of the guest's last error: "set_input: invalid_argument: …". It stays until the next error; a too
// small buffer does not count as one. Only on wasinn.
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
