package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"

	"wasinn"
)

const (
	pixels  = 64
	classes = 10
	// A key of contexts, so that the model is the one that all guests share.
	config = `{"outputs":["probabilities"]}`
)

type job struct {
	model  []byte
	images []float32
	scores []float32
}

// each calls classify with each image, and the place for its scores.
func (j *job) each(classify func(image, scores []float32)) {
	for image := range slices.Chunk(j.images, pixels) {
		scores := make([]float32, classes)
		classify(image, scores)
		j.scores = append(j.scores, scores...)
	}
}

func contextOf(graph wasinn.Graph, err error) wasinn.Context {
	must(err)
	return got(graph.InitExecutionContext())
}

func byIndex(j *job) {
	graph := got(wasinn.LoadByName("digits"))
	context := got(graph.InitExecutionContext())
	j.each(func(image, scores []float32) {
		must(wasinn.SetInput(context, 0, image, 1, 1, 8, 8))
		must(context.Compute())
		mustBe(got(wasinn.GetOutput(context, 0, scores)) == classes, "the number of scores")
	})
	must(context.Finalize())
	must(graph.Unload())
}

func byName(j *job) {
	context := contextOf(wasinn.LoadByName("digits"))
	j.each(func(image, scores []float32) {
		must(wasinn.SetInputByName(context, "image", image, 1, 1, 8, 8))
		must(context.Compute())
		mustBe(got(wasinn.GetOutputByName(context, "probabilities", scores)) == classes, "the number of scores")
	})
}

func slicesOf(context wasinn.Context, j *job) {
	j.each(func(image, scores []float32) {
		// An array of the caller's, which would lie on its stack.
		var copied [pixels]float32
		copy(copied[:], image)
		must(wasinn.SetInput(context, 0, copied[:], 1, 1, 8, 8))
		must(context.Compute())
		copy(scores, got(wasinn.GetOutputSlice[float32](context, 0)))
		mustBe(slices.Equal(scores, got(wasinn.GetOutputSliceByName[float32](context, "probabilities"))), "what the name gives")
	})
}

func configured(j *job) { slicesOf(contextOf(wasinn.LoadByNameWithConfig("digits", config)), j) }

func fromBytes(j *job) {
	slicesOf(contextOf(wasinn.Load([][]byte{j.model}, wasinn.ONNX, wasinn.CPU)), j)
}

func fromBytesOfAFormat(j *job) {
	slicesOf(contextOf(wasinn.LoadAs([][]byte{j.model}, "onnx", wasinn.Auto)), j)
}

// written has outputs that compute writes, first to one place and then to another.
func written(j *job) {
	context := contextOf(wasinn.LoadByName("digits"))
	var places [2][classes]float32
	var sizes [2]uint32
	count := 0
	j.each(func(image, scores []float32) {
		place, size := places[count%2][:], &sizes[count%2]
		if count%4 < 2 {
			must(wasinn.SetOutput(context, 0, place, size))
		} else {
			must(wasinn.SetOutputByName(context, "probabilities", place, size))
		}
		*size = 0
		must(wasinn.SetInput(context, 0, image, 1, 1, 8, 8))
		must(context.Compute())
		mustBe(*size == 4*classes, "the size that was written")
		copy(scores, place)
		clear(place)
		count++
	})
	must(context.Finalize())
}

func once(j *job) {
	context := contextOf(wasinn.LoadByName("digits"))
	j.each(func(image, scores []float32) {
		outputs := []wasinn.Output{wasinn.OutputNamed("probabilities", scores)}
		must(context.ComputeOnce([]wasinn.Input{wasinn.InputNamed("image", image, 1, 1, 8, 8)}, outputs))
		mustBe(outputs[0].Written == 4*classes, "the size that was written")
	})
}

func onceOnTheGraph(j *job) {
	graph := got(wasinn.LoadByName("digits"))
	j.each(func(image, scores []float32) {
		inputs := []wasinn.Input{wasinn.InputOf(0, image, 1, 1, 8, 8)}
		must(graph.ComputeOnce(inputs, []wasinn.Output{wasinn.OutputOf(0, scores)}))
	})
}

var ways = []struct {
	name string
	run  func(*job)
}{
	{"by_index", byIndex},
	{"by_name", byName},
	{"configured", configured},
	{"from_bytes", fromBytes},
	{"from_bytes_of_a_format", fromBytesOfAFormat},
	{"written", written},
	{"once", once},
	{"once_on_the_graph", onceOnTheGraph},
}

func digits(model, inputs, outputs string) {
	j := job{model: got(os.ReadFile(model))}
	for bytes := range slices.Chunk(got(os.ReadFile(inputs)), 4) {
		j.images = append(j.images, math.Float32frombits(binary.LittleEndian.Uint32(bytes)))
	}
	for _, way := range ways {
		way.run(&j)
		fmt.Println(way.name, len(j.scores)/classes)
	}
	must(os.WriteFile(outputs, got(binary.Append(nil, binary.LittleEndian, j.scores)), 0o666))
}
