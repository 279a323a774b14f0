// Writes what a language model, which runs in the host, says, as it comes: through wasi-nn and WasmEdge's streaming
// functions.
//
//	chat-go.wasm [-model NAME] [-n-predict N] [-temp T] [-seed N] PROMPT...
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"wasinn"
)

// generate writes the text piece by piece. A full context also ends it, with a message.
func generate(context wasinn.Context) (pieces int, first, all time.Duration, err error) {
	begin := time.Now()
	for {
		if err = context.ComputeSingle(); err != nil {
			break
		}
		var piece []byte
		if piece, err = wasinn.GetOutputSingle[byte](context, 0); err != nil {
			return
		}
		if pieces++; pieces == 1 {
			first = time.Since(begin)
		}
		os.Stdout.Write(piece)
	}
	all = time.Since(begin)
	fmt.Println()
	if errors.Is(err, wasinn.ContextFull) {
		fmt.Fprintln(os.Stderr, "chat: the context is full (-ctx-size)")
		err = nil
	} else if errors.Is(err, wasinn.EndOfSequence) {
		err = nil
	}
	return
}

func printTimes(context wasinn.Context, pieces int, first, all time.Duration) error {
	text, err := wasinn.GetOutputSlice[byte](context, 1)
	if err != nil {
		return err
	}
	var metadata struct {
		In  int `json:"input_tokens"`
		Out int `json:"output_tokens"`
	}
	if err := json.Unmarshal(text, &metadata); err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	fmt.Fprintf(os.Stderr, "  %d tokens in", metadata.In)
	if metadata.Out > 0 {
		fmt.Fprintf(os.Stderr, ", the first out after %.1f ms", first.Seconds()*1000)
	}
	if metadata.Out > 1 {
		fmt.Fprintf(os.Stderr, "; %d out", metadata.Out)
	}
	// The text of a model on another server comes at once, so no token has a time of its own.
	if metadata.Out > 1 && pieces > 1 && all > first {
		fmt.Fprintf(os.Stderr, ", %.1f tokens/s", float64(metadata.Out-1)/(all-first).Seconds())
	}
	fmt.Fprintln(os.Stderr)
	return nil
}

// load gets a model of the host. Without options they are "".
func load(model, options string) (wasinn.Graph, error) {
	if options == "" {
		return wasinn.LoadByName(model)
	}
	return wasinn.LoadByNameWithConfig(model, options)
}

func run(model, options, prompt string) error {
	graph, err := load(model, options)
	if err != nil {
		return err
	}
	context, err := graph.InitExecutionContext()
	if err != nil {
		return err
	}
	if err := wasinn.SetInput(context, 0, []byte(prompt), uint32(len(prompt))); err != nil {
		return err
	}
	fmt.Print(prompt)
	pieces, first, all, err := generate(context)
	if err != nil {
		return err
	}
	if err := printTimes(context, pieces, first, all); err != nil {
		return err
	}
	return context.FiniSingle()
}

// The options that were given go to the framework, as JSON.
func config() string {
	keys := map[string]any{}
	flag.Visit(func(f *flag.Flag) {
		if f.Name != "model" {
			keys[f.Name] = f.Value.(flag.Getter).Get()
		}
	})
	if len(keys) == 0 {
		return ""
	}
	text, _ := json.Marshal(keys) // numbers and texts: it cannot fail
	return string(text)
}

func main() {
	model := flag.String("model", "lm", "a model that the host offers")
	flag.Int("n-predict", 0, "at most so many tokens")
	flag.Float64("temp", 0, "0 always takes the likeliest token")
	flag.Int("top-k", 0, "only the likeliest tokens, so many")
	flag.Float64("top-p", 0, "only the likeliest tokens, of this probability together")
	flag.Float64("min-p", 0, "only tokens of so much of the likeliest one's probability")
	flag.Float64("repeat-penalty", 1, "of tokens that have come")
	flag.Uint("seed", 0, "the same text for the same seed")
	flag.Int("ctx-size", 0, "tokens of prompt and answer together")
	flag.String("grammar", "", "what the text must look like, in GBNF")
	flag.String("reverse-prompt", "", "ends the text where it comes")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*model, config(), strings.Join(flag.Args(), " ")); err != nil {
		fmt.Fprintf(os.Stderr, "chat: model %s: %v\n", *model, err)
		os.Exit(1)
	}
}
