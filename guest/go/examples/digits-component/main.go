// A component that prints the scores of a gray image, one for each digit.
package main

import (
	"fmt"
	"os"
	"slices"

	"wasinn/component"
)

func scores() ([]float32, error) {
	graph, err := component.LoadByName("digits")
	if err != nil {
		return nil, err
	}
	context, err := graph.InitExecutionContext()
	if err != nil {
		return nil, err
	}
	image := slices.Repeat([]float32{0.5}, 64)
	outputs, err := context.Compute(component.Named("image", component.NewTensor(image, 1, 1, 8, 8)))
	if err != nil {
		return nil, err
	}
	return component.Data[float32](outputs[0].Tensor), nil
}

//go:wasmexport wasi:cli/run@0.2.0#run
func run() int32 {
	found, err := scores()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(found)
	return 0
}

func main() {} // not called: the host calls run
