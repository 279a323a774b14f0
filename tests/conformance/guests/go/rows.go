package main

import (
	"errors"
	"fmt"

	"wasinn"
)

var a, b = []float32{1, 2, 3, 4}, []float32{10, 20, 30, 40}

func show(name string, context wasinn.Context) {
	print(name+".difference", got(wasinn.GetOutputSlice[float32](context, 0)))
	print(name+".sum", got(wasinn.GetOutputSlice[float32](context, 1)))
}

// outputsAsInputs: what one context computed goes on in another, and in itself.
func outputsAsInputs(graph wasinn.Graph) wasinn.Context {
	first, second := got(graph.InitExecutionContext()), got(graph.InitExecutionContext())
	must(wasinn.SetInput(first, 0, a, 2, 2))
	must(wasinn.SetInput(first, 1, b, 2, 2))
	must(first.Compute())
	show("first", first)
	must(second.SetInputFromOutput(0, first, 1))
	must(wasinn.SetInput(second, 1, b, 2, 2))
	must(second.Compute())
	show("second", second)
	must(second.SetInputFromOutput(1, second, 0))
	must(second.Compute())
	show("itself", second)
	return second
}

func chosenOutputs(context wasinn.Context) {
	must(context.SelectOutput(1))
	must(context.Compute())
	print("chosen", got(wasinn.GetOutputSlice[float32](context, 1)))
	_, err := wasinn.GetOutputSlice[float32](context, 0)
	mustBe(errors.Is(err, wasinn.InvalidArgument), "an output that was not chosen")
	must(context.SelectOutputByName("difference"))
	must(context.Compute())
	show("both", context)
}

func inOneCall(graph wasinn.Graph) {
	difference, sum := make([]float32, 4), make([]float32, 6) // more than is needed
	inputs := []wasinn.Input{wasinn.InputNamed("b", b, 2, 2), wasinn.InputOf(0, a, 2, 2)}
	outputs := []wasinn.Output{wasinn.OutputNamed("sum", sum), wasinn.OutputOf(0, difference)}
	must(graph.ComputeOnce(inputs, outputs))
	mustBe(outputs[0].Written == 16 && outputs[1].Written == 16, "the size that was written")
	print("once.difference", difference)
	print("once.sum", sum[:4])
}

func rows() {
	graph := got(wasinn.LoadByName("two_in_two_out"))
	fmt.Println("describe", got(graph.Describe()))
	context := outputsAsInputs(graph)
	chosenOutputs(context)
	inOneCall(graph)
	other := got(graph.InitExecutionContext())
	mustBe(other.Handle() != context.Handle() && graph.Handle() == graph.Handle(), "a handle")
	must(context.Compute())
	mustBe(errors.Is(other.Compute(), wasinn.InvalidArgument), "a compute on nothing")
	fmt.Println("done")
}
