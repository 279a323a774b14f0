//go:build wasip1

package wasinn

import (
	"runtime"
	"unsafe"
)

// Context is one inference at a time on a graph: its inputs and outputs, which the host has. Make one, and use it for many
// inferences. It is a number that the host understands, and lives until the guest ends, or until Finalize.
//
// Shapes are dims, the outermost dimension first; none are a scalar's. Whether the data are as many as the dims say is for the host
// to check: if not, the error is InvalidArgument.
//
// The host copies the data of an input before a function returns. One exception: an operator can choose, for a guest, that inputs
// are "by-reference". Then each compute reads what is in their memory by then, which is another thing's where the garbage collector
// has freed it: such a guest holds on to the data until its last compute on them.
type Context struct{ handle uint32 }

// SetInput sets input index, in the model's own order. It keeps its value over any number of computes.
func SetInput[T Element](c Context, index uint32, data []T, dims ...uint32) error {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	record := viewOf(data, dims).record(&pinner)
	return check("set_input", nnSetInput(c.handle, index, &record))
}

// SetInputByName is SetInput by the model's own name for the input, or a decimal index. wasinn's, as all that goes by names.
func SetInputByName[T Element](c Context, name string, data []T, dims ...uint32) error {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	record := viewOf(data, dims).record(&pinner)
	return check("set_input_by_name", extSetInputByName(c.handle, name, &record))
}

// SetInputFromOutput makes what output outputIndex of from was computed to be input index of this context, without a way through
// this guest's memory. from may be of another model, of the same one, or this context itself. Type and shape must be what the input
// takes. wasinn's.
func (c Context) SetInputFromOutput(index uint32, from Context, outputIndex uint32) error {
	return check("set_input_from_output", extSetInputFromOutput(c.handle, index, from.handle, outputIndex))
}

// Compute runs the model; it returns when the outputs are there.
func (c Context) Compute() error { return check("compute", nnCompute(c.handle)) }

// GetOutput copies output index of the last compute to out, and returns how many elements the output has. If out is too small,
// nothing is copied, and the Error tells the size that is needed.
func GetOutput[T Element](c Context, index uint32, out []T) (int, error) {
	return fill("get_output", out, c.output(index))
}

// GetOutputSlice gives all elements of output index. It asks for their number first, where the host tells it.
func GetOutputSlice[T Element](c Context, index uint32) ([]T, error) {
	return fillSlice[T]("get_output", c.output(index))
}

// GetOutputByName is GetOutput by name.
func GetOutputByName[T Element](c Context, name string, out []T) (int, error) {
	return fill("get_output_by_name", out, c.outputNamed(name))
}

// GetOutputSliceByName is GetOutputSlice by name.
func GetOutputSliceByName[T Element](c Context, name string) ([]T, error) {
	return fillSlice[T]("get_output_by_name", c.outputNamed(name))
}

// ComputeSingle generates the next piece of an answer, the first one from the inputs: EndOfSequence when nothing more comes,
// UnsupportedOperation of models that answer all at once. WasmEdge's and wasinn's, as are the next two.
func (c Context) ComputeSingle() error { return check("compute_single", nnComputeSingle(c.handle)) }

// GetOutputSingle gives the newest piece. Of text it is whole characters of UTF-8, and perhaps none.
func GetOutputSingle[T Element](c Context, index uint32) ([]T, error) {
	return fillSlice[T]("get_output_single", func(buffer unsafe.Pointer, size uint32, written *uint32) uint32 {
		return nnGetOutputSingle(c.handle, index, buffer, size, written)
	})
}

// FiniSingle ends the generation, which may have ended.
func (c Context) FiniSingle() error { return check("fini_single", nnFiniSingle(c.handle)) }

// Finalize gives the context back. A compute of another thread that is running on it ends with an error. WasmEdge's and wasinn's.
func (c Context) Finalize() error {
	err := check("finalize_execution_context", nnFinalizeExecutionContext(c.handle))
	if err == nil {
		places.forget(c.handle)
	}
	return err
}

// Handle is the host's number for it.
func (c Context) Handle() uint32 { return c.handle }

func (c Context) output(index uint32) filler {
	return func(buffer unsafe.Pointer, size uint32, written *uint32) uint32 {
		return nnGetOutput(c.handle, index, buffer, size, written)
	}
}

func (c Context) outputNamed(name string) filler {
	return func(buffer unsafe.Pointer, size uint32, written *uint32) uint32 {
		return extGetOutputByName(c.handle, name, buffer, size, written)
	}
}
