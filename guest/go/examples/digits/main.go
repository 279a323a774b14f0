// The example of the README.
package main

import (
	"fmt"
	"os"
	"slices"

	"wasinn"
)

func classify(image []float32) ([]float32, error) {
	graph, err := wasinn.LoadByName("digits")
	if err != nil {
		return nil, err
	}
	context, err := graph.InitExecutionContext()
	if err != nil {
		return nil, err
	}
	if err := wasinn.SetInput(context, 0, image, 1, 1, 8, 8); err != nil {
		return nil, err
	}
	if err := context.Compute(); err != nil {
		return nil, err
	}
	return wasinn.GetOutputSlice[float32](context, 0)
}

func main() {
	scores, err := classify(slices.Repeat([]float32{0.5}, 64))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(scores)
}
