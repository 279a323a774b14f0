// Prints what kind of file something is, whatever its name, with a model that the host computes, through wasi-nn.
//
//	filetype.wasm [-model NAME] [-raw] SETTINGS FILE...
//
// The model is that of Google's magika. The steps before and after it are those of the package: see magika.go.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"wasinn"
)

// classify asks the model, if there is enough of the file.
func classify(s *settings, context wasinn.Context, path string) (verdict, error) {
	first, last, err := s.ends(path)
	if err != nil {
		return verdict{}, err
	}
	if v, known := s.withoutModel(first); known {
		return v, nil
	}
	features := s.features(first, last)
	if err := wasinn.SetInput(context, 0, features, 1, uint32(len(features))); err != nil {
		return verdict{}, err
	}
	if err := context.Compute(); err != nil {
		return verdict{}, err
	}
	scores, err := wasinn.GetOutputSlice[float32](context, 0)
	if err != nil {
		return verdict{}, err
	}
	return s.fromScores(scores)
}

func load(model string) (wasinn.Context, error) {
	graph, err := wasinn.LoadByName(model)
	if err != nil {
		return wasinn.Context{}, err
	}
	return graph.InitExecutionContext()
}

func print(s *settings, path string, width int, v verdict, raw bool) {
	if raw {
		fmt.Printf("%s %s\n", path, v.label)
		return
	}
	const whole = 10
	bar := strings.Repeat("█", int(v.score*whole+0.5))
	kind := s.kinds[v.label]
	fmt.Printf("  %-*s  %-*s %5.1f %%  %s (%s)\n", width, path, whole, bar, v.score*100, kind.Description, kind.MediaType)
}

func run(model, folder string, paths []string, raw bool) (failed bool, err error) {
	s, err := readSettings(folder)
	if err != nil {
		return true, err
	}
	context, err := load(model)
	if err != nil {
		return true, fmt.Errorf("model %s: %w", model, err)
	}
	width := 0
	for _, path := range paths {
		width = max(width, len(path))
	}
	for _, path := range paths {
		v, err := classify(s, context, path)
		if err != nil {
			fmt.Fprintf(os.Stderr, "filetype: %s: %v\n", path, err)
			failed = true
			continue
		}
		print(s, path, width, v, raw)
	}
	return failed, nil
}

func main() {
	model := flag.String("model", "magika", "a model that the host offers")
	raw := flag.Bool("raw", false, "for each file only its name and label")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: filetype.wasm [options] SETTINGS FILE...\nSETTINGS is the folder of config.min.json and content_types_kb.min.json.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() < 2 {
		flag.Usage()
		os.Exit(2)
	}
	failed, err := run(*model, flag.Arg(0), flag.Args()[1:], *raw)
	if err != nil {
		fmt.Fprintln(os.Stderr, "filetype:", err)
	}
	if failed {
		os.Exit(1)
	}
}
