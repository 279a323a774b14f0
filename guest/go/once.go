//go:build wasip1

package wasinn

import (
	"runtime"
	"unsafe"
)

// port is an input or output by its name, or by its index.
type port struct {
	named bool
	name  string
	index uint32
}

// record gives name and nameLen of a record, where a name at 0 means that the length is an index.
func (p port) record(pinner *runtime.Pinner) (name, nameLen uint32) {
	if !p.named {
		return 0, p.index
	}
	if p.name == "" {
		return addressOf(pinner, unsafe.Pointer(&somewhere), 1), 0
	}
	return addressOf(pinner, unsafe.Pointer(unsafe.StringData(p.name)), len(p.name)), uint32(len(p.name))
}

// somewhere is where what has no bytes lies, where 0 means something else.
var somewhere byte

// Input is an input of ComputeOnce.
type Input struct {
	port port
	view view
}

// InputOf is an input by its index.
func InputOf[T Element](index uint32, data []T, dims ...uint32) Input {
	return Input{port{index: index}, viewOf(data, dims)}
}

// InputNamed is an input by the model's name for it.
func InputNamed[T Element](name string, data []T, dims ...uint32) Input {
	return Input{port{named: true, name: name}, viewOf(data, dims)}
}

// Output is an output of ComputeOnce.
type Output struct {
	// Written is the output's size in bytes in the last ComputeOnce, even if the buffer was too small; 0: not known.
	Written int

	port   port
	buffer unsafe.Pointer
	size   int
}

// OutputOf is an output by its index. It goes into buffer.
func OutputOf[T Element](index uint32, buffer []T) Output {
	return Output{port: port{index: index}, buffer: unsafe.Pointer(unsafe.SliceData(buffer)), size: sizeOf(buffer)}
}

// OutputNamed is an output by the model's name for it. It goes into buffer.
func OutputNamed[T Element](name string, buffer []T) Output {
	return Output{port: port{named: true, name: name}, buffer: unsafe.Pointer(unsafe.SliceData(buffer)), size: sizeOf(buffer)}
}

// ComputeOnce is an inference in one call. It sets only these inputs, computes, and writes only these outputs. Afterwards no
// input is set, and there is no output to get. Large tensors are not copied if the framework can use the guest's buffers. If a
// buffer is too small, the error is TooLarge, and Written has each output's size. Only on wasinn.
func (c Context) ComputeOnce(inputs []Input, outputs []Output) error {
	return computeOnce(c.handle, inputs, outputs)
}

func computeOnce(contextOrGraph uint32, inputs []Input, outputs []Output) error {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	given, wanted := make([]inputRecord, len(inputs)), make([]outputRecord, len(outputs))
	for i, input := range inputs {
		given[i].name, given[i].nameLen = input.port.record(&pinner)
		given[i].tensor = input.view.record(&pinner)
	}
	for i, output := range outputs {
		wanted[i].name, wanted[i].nameLen = output.port.record(&pinner)
		wanted[i].buffer, wanted[i].bufferLen = addressOf(&pinner, output.buffer, output.size), uint32(output.size)
	}
	code := extComputeOnce(contextOrGraph, unsafe.SliceData(given), uint32(len(given)), unsafe.SliceData(wanted), uint32(len(wanted)))
	for i := range outputs {
		outputs[i].Written = int(wanted[i].written)
	}
	return check("compute_once", code)
}
