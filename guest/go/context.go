//go:build wasip1

package wasinn

import (
	"runtime"
	"unsafe"
)

// Context is the inputs and outputs of one inference at a time on a graph. The host holds them. Make one, and use it for many
// inferences. It is a plain number; the host knows its meaning. It lives until the guest ends, or until Finalize.
//
// dims is the shape, the outermost dimension first; no dims are a scalar. The host checks that the data fit the dims; if not, the
// error is InvalidArgument.
//
// The host copies an input's data before a function returns.
type Context struct{ handle uint32 }

// SetInput sets input index, in the model's order. It keeps its value over any number of computes.
func SetInput[T Element](c Context, index uint32, data []T, dims ...uint32) error {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	record := viewOf(data, dims).record(&pinner)
	return check("set_input", nnSetInput(c.handle, index, &record))
}

// SetInputByName is SetInput by the model's name for the input, or by a decimal index. Only on wasinn, like all functions that
// take names.
func SetInputByName[T Element](c Context, name string, data []T, dims ...uint32) error {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	record := viewOf(data, dims).record(&pinner)
	return check("set_input_by_name", extSetInputByName(c.handle, name, &record))
}

// SetInputFromOutput makes output outputIndex of from this context's input index. The tensor does not pass through the guest's
// memory. from may be of another model, of the same model, or this context. Type and shape must fit the input. Only on wasinn.
func (c Context) SetInputFromOutput(index uint32, from Context, outputIndex uint32) error {
	return check("set_input_from_output", extSetInputFromOutput(c.handle, index, from.handle, outputIndex))
}

// Compute runs the model. It returns when the outputs are ready.
func (c Context) Compute() error { return check("compute", nnCompute(c.handle)) }

// GetOutput copies output index of the last compute to out, and returns the number of its elements. If out is too small, nothing
// is copied, and the Error has the needed size.
func GetOutput[T Element](c Context, index uint32, out []T) (int, error) {
	return fill("get_output", out, c.output(index))
}

// GetOutputSlice returns all elements of output index. It asks for their number first; the host must report it.
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

// ComputeSingle generates the next piece of an answer. The first call begins with the inputs. EndOfSequence: the answer is
// complete. UnsupportedOperation: the model does not generate piece by piece. This and the next two are only on WasmEdge and
// wasinn.
func (c Context) ComputeSingle() error { return check("compute_single", nnComputeSingle(c.handle)) }

// GetOutputSingle returns the newest piece. A piece of text has whole UTF-8 characters only, so it may be empty.
func GetOutputSingle[T Element](c Context, index uint32) ([]T, error) {
	return fillSlice[T]("get_output_single", func(buffer unsafe.Pointer, size uint32, written *uint32) uint32 {
		return nnGetOutputSingle(c.handle, index, buffer, size, written)
	})
}

// FiniSingle ends the generation, if there is one.
func (c Context) FiniSingle() error { return check("fini_single", nnFiniSingle(c.handle)) }

// Finalize frees the context. If another thread is computing on it, that compute ends with an error. Only on WasmEdge and wasinn.
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
