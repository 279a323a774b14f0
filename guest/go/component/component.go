//go:build wasip1

// Package component is for guests that are components: it has wasi:nn 0.2.0-rc-2024-10-28, the component form of the standard.
//
//	graph, err := component.LoadByName("digits")
//	context, err := graph.InitExecutionContext()
//	image := component.NewTensor(pixels, 1, 1, 8, 8)
//	outputs, err := context.Compute(component.Named("image", image))
//	scores := component.Data[float32](outputs[0].Tensor)
//
// The host calls a function of the program that go:wasmexport names wasi:cli/run@0.2.0#run; main is not called. Go makes a core module
// of it (GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared), and jco or wasm-tools a component of that, with the WIT of wasi:nn and
// the adapter of WASI for reactors: no generator is needed. Package wasinn has the functions for core modules.
//
// The host has graphs, contexts and tensors until the guest ends, or drops them: the garbage collector does not. One that is dropped
// or given away must not be used again: the guest would trap.
package component

import (
	"runtime"
	"unsafe"
)

// Encoding is the format of a model's bytes.
type Encoding uint32

const (
	OpenVINO       Encoding = 0 // two parts: the .xml file, then the .bin file
	ONNX           Encoding = 1
	TensorFlow     Encoding = 2
	PyTorch        Encoding = 3
	TensorFlowLite Encoding = 4
	GGML           Encoding = 5
	Autodetect     Encoding = 6
)

// Target is where a model shall run.
type Target uint32

const (
	CPU Target = 0
	GPU Target = 1
	TPU Target = 2
)

// Graph is a loaded model.
type Graph struct{ handle uint32 }

// Load loads a model from its parts. A host may refuse all models from guests (Security).
func Load(parts [][]byte, encoding Encoding, target Target) (Graph, error) {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	var made result
	builders := make([]list, len(parts))
	for i, part := range parts {
		builders[i] = listOf(&pinner, unsafe.Pointer(unsafe.SliceData(part)), len(part))
	}
	nnLoad(unsafe.Pointer(unsafe.SliceData(builders)), uint32(len(builders)), uint32(encoding), uint32(target), &made)
	return Graph{made.handle}, made.error()
}

// LoadByName gets a model that the host offers under a name. The host loads it once for all its guests.
func LoadByName(name string) (Graph, error) {
	var made result
	nnLoadByName(name, &made)
	return Graph{made.handle}, made.error()
}

// InitExecutionContext makes a context for inferences on the model. Use it for many: to make a context costs much more than one compute.
func (g Graph) InitExecutionContext() (Context, error) {
	var made result
	nnInitExecutionContext(g.handle, &made)
	return Context{made.handle}, made.error()
}

// Drop drops the graph. Its contexts still work.
func (g Graph) Drop() { nnGraphDrop(g.handle) }

// Context is for one inference at a time.
type Context struct{ handle uint32 }

// NamedTensor is an input or output: its name in the model, and its tensor.
type NamedTensor struct {
	Name   string
	Tensor Tensor
}

// Named makes a NamedTensor.
func Named(name string, tensor Tensor) NamedTensor { return NamedTensor{name, tensor} }

// Compute runs the model on these inputs, and returns all its outputs. It takes the inputs' tensors, even if it fails.
func (c Context) Compute(inputs ...NamedTensor) ([]NamedTensor, error) {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	records := make([]namedTensor, len(inputs))
	for i, input := range inputs {
		name := listOf(&pinner, unsafe.Pointer(unsafe.StringData(input.Name)), len(input.Name))
		records[i] = namedTensor{name: name, tensor: input.Tensor.handle}
	}
	var made outputs
	begin(small[:])
	defer end()
	nnCompute(c.handle, unsafe.Pointer(unsafe.SliceData(records)), uint32(len(records)), &made)
	if made.isError != 0 {
		return nil, errorOf(made.itemsOrError)
	}
	all := listIn[namedTensor](list{data: made.itemsOrError, len: made.count})
	named := make([]NamedTensor, len(all))
	for i, output := range all {
		named[i] = NamedTensor{string(listIn[byte](output.name)), Tensor{output.tensor}}
	}
	return named, nil
}

// Drop drops the context.
func (c Context) Drop() { nnContextDrop(c.handle) }
