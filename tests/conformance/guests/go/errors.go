package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"wasinn"
)

var image = slices.Repeat([]float32{0.5}, 64)

// report writes "STEP CODE NEEDED WORDS": the call that should have failed, how many bytes a buffer has to have, and the host's words.
func report(step string, err error) {
	var failure wasinn.Error
	if pointer := (*wasinn.Error)(nil); errors.As(err, &pointer) {
		failure = *pointer
	}
	fmt.Println(step, uint32(failure.Errno), failure.Needed, got(wasinn.LastError()))
}

func second[T any](_ T, err error) error { return err }

func loads(model []byte) {
	report("no_name", second(wasinn.LoadByName("nothing")))
	report("no_format", second(wasinn.LoadAs([][]byte{model}, "no-format", wasinn.CPU)))
	report("no_model", second(wasinn.Load([][]byte{model[:100]}, wasinn.ONNX, wasinn.CPU)))
	report("no_parts", second(wasinn.Load(nil, wasinn.ONNX, wasinn.CPU)))
	report("no_key", second(wasinn.LoadByNameWithConfig("digits", `{"no_key": 1}`)))
}

// lengths that do not belong together: the host counts.
func lengths(context wasinn.Context) {
	report("shorter", wasinn.SetInput(context, 0, image[1:], 1, 1, 8, 8))
	report("longer", wasinn.SetInput(context, 0, make([]float32, 65), 1, 1, 8, 8))
	report("empty", wasinn.SetInput(context, 0, []float32{}, 1, 1, 8, 8))
	const most = 1<<32 - 1
	report("huge", wasinn.SetInput(context, 0, image, most, most, most, most))
	report("rank", wasinn.SetInput(context, 0, image, slices.Repeat([]uint32{1}, 100)...))
	report("type", wasinn.SetInput(context, 0, make([]uint8, 64), 1, 1, 8, 8))
	report("type_of_as_many_bytes", wasinn.SetInput(context, 0, make([]int32, 64), 1, 1, 8, 8))
	report("shorter_by_name", wasinn.SetInputByName(context, "image", image[1:], 1, 1, 8, 8))
	shorter := []wasinn.Input{wasinn.InputOf(0, image[1:], 1, 1, 8, 8)}
	report("shorter_once", context.ComputeOnce(shorter, []wasinn.Output{wasinn.OutputOf(0, make([]float32, 10))}))
}

func order(context wasinn.Context) {
	scores := make([]float32, 10)
	report("no_input", context.Compute())
	report("no_output", second(wasinn.GetOutput(context, 0, scores)))
	report("no_index", wasinn.SetInput(context, 1, image, 1, 1, 8, 8))
	report("no_input_name", wasinn.SetInputByName(context, "", image, 1, 1, 8, 8))
	unnamed := []wasinn.Input{wasinn.InputNamed("", image, 1, 1, 8, 8)}
	report("no_input_name_once", context.ComputeOnce(unnamed, []wasinn.Output{wasinn.OutputOf(0, scores)}))
	report("no_piece", context.ComputeSingle())
}

func allOnes(values []float32) bool {
	return !slices.ContainsFunc(values, func(value float32) bool { return value != 1 })
}

// sizes has buffers that are too small, which is no error that the host has words for.
func sizes(graph wasinn.Graph) {
	context := got(graph.InitExecutionContext())
	must(wasinn.SetInput(context, 0, image, 1, 1, 8, 8))
	must(context.Compute())
	small := slices.Repeat([]float32{1}, 9)
	report("small", second(wasinn.GetOutput(context, 0, small)))
	report("none", second(wasinn.GetOutput(context, 0, []float32{})))
	report("small_by_name", second(wasinn.GetOutputByName(context, "probabilities", small)))
	outputs := []wasinn.Output{wasinn.OutputOf(0, small)}
	report("small_once", context.ComputeOnce([]wasinn.Input{wasinn.InputOf(0, image, 1, 1, 8, 8)}, outputs))
	fmt.Println("written", outputs[0].Written)
	report("nothing_left", second(wasinn.GetOutput(context, 0, make([]float32, 10))))
	fmt.Println("untouched", allOnes(small))

	place, written := slices.Repeat([]float32{1}, 9), uint32(0)
	must(wasinn.SetOutput(context, 0, place, &written))
	must(wasinn.SetInput(context, 0, image, 1, 1, 8, 8))
	report("small_place", context.Compute())
	fmt.Printf("written %d, untouched %v\n", written, allOnes(place))
	fmt.Println("still_there", len(got(wasinn.GetOutputSlice[float32](context, 0))))
	must(wasinn.SetOutput(context, 0, []float32{}, &written))
	report("no_place", context.Compute())
}

// halves: an output of bytes is not taken for elements that it has no whole number of.
func halves() {
	context := contextOf(wasinn.LoadByName("identity_u8"))
	must(wasinn.SetInput(context, 0, []uint8{1, 2, 3, 4, 5, 6}, 2, 3))
	must(context.Compute())
	fmt.Println("half_an_element", errnoOf(second(wasinn.GetOutput(context, 0, make([]float32, 2)))))
	fmt.Println("half_an_element", errnoOf(second(wasinn.GetOutputSlice[float64](context, 0))))
	report("no_way", context.SetInputFromOutput(0, context, 1))
}

func wrong(path string) {
	loads(got(os.ReadFile(path)))
	graph := got(wasinn.LoadByName("digits"))
	context := got(graph.InitExecutionContext())
	lengths(context)
	order(context)
	sizes(graph)
	halves()
	fmt.Printf("%v, %v\n", wasinn.NotFound, wasinn.Errno(77))
	must(context.Finalize())
	mustBe(errors.Is(context.Compute(), wasinn.InvalidArgument), "a context that was given back")
	must(graph.Unload())
	mustBe(errors.Is(second(graph.InitExecutionContext()), wasinn.InvalidArgument), "a graph that was given back")
}
