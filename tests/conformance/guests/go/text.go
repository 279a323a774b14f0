package main

import (
	"bytes"
	"fmt"

	"wasinn"
)

// generate gives all pieces, and what ended them.
func generate(context wasinn.Context) (pieces [][]byte, end error) {
	for {
		if err := context.ComputeSingle(); err != nil {
			return pieces, err
		}
		pieces = append(pieces, got(wasinn.GetOutputSingle[byte](context, 0)))
	}
}

func text(config, prompt string) {
	context := contextOf(wasinn.LoadByNameWithConfig("lm", config))
	must(wasinn.SetInput(context, 0, []byte(prompt), uint32(len(prompt))))
	pieces, end := generate(context)
	fmt.Println("pieces", len(pieces))
	print("text", bytes.Join(pieces, nil))
	fmt.Println("end", errnoOf(end))
	print("whole", got(wasinn.GetOutputSlice[byte](context, 0)))
	must(context.FiniSingle())
	must(context.ComputeSingle()) // begins another one
	fmt.Println("again", bytes.Equal(got(wasinn.GetOutputSingle[byte](context, 0)), pieces[0]))
	must(context.FiniSingle())
	must(context.Finalize())
}
