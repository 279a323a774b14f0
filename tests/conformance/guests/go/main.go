// Every function of the package wasinn, on real models, for bindings_test.cc; guests/rust is the same program in Rust, which says what
// the arguments are.
package main

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"wasinn"
)

// must ends the program where a call fails that should not.
func must(err error) {
	if err != nil {
		words, _ := wasinn.LastError()
		fmt.Fprintf(os.Stderr, "bindings: %v; %s\n", err, words)
		os.Exit(1)
	}
}

func got[T any](value T, err error) T {
	must(err)
	return value
}

func mustBe(good bool, what string) {
	if !good {
		must(errors.New(what + " is not as it should be"))
	}
}

func errnoOf(err error) (errno wasinn.Errno) {
	errors.As(err, &errno)
	return
}

// print writes "NAME HEX", or "NAME -" of nothing. elements is a slice.
func print(name string, elements any) {
	bytes := got(binary.Append(nil, binary.LittleEndian, elements))
	text := hex.EncodeToString(bytes)
	if text == "" {
		text = "-"
	}
	fmt.Println(name, text)
}

func main() {
	args := os.Args[1:]
	switch {
	case len(args) == 4 && args[0] == "digits":
		digits(args[1], args[2], args[3])
	case len(args) == 1 && args[0] == "rows":
		rows()
	case len(args) == 1 && args[0] == "types":
		types()
	case len(args) == 2 && args[0] == "errors":
		wrong(args[1])
	case len(args) == 3 && args[0] == "text":
		text(args[1], args[2])
	default:
		must(errors.New("usage: see guests/rust/src/main.rs"))
	}
}
