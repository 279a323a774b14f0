//go:build wasip1

package wasinn

import "strconv"

// Errno is what a call failed with: the standard's numbers, and those of hosts that generate text. errors.Is(err, wasinn.NotFound)
// asks for one. A host that has wasinn's functions also tells it in words: LastError.
type Errno uint32

const (
	// InvalidArgument: a handle or index that is not valid; a tensor whose type, dims or size the model does not take; an input that was
	// never set; an output before the first compute, or one of another type than was asked for.
	InvalidArgument Errno = 1
	// InvalidEncoding: the encoding is unknown, or the bytes are not of that encoding.
	InvalidEncoding Errno = 2
	// MissingMemory: the module does not export its memory as "memory".
	MissingMemory Errno = 3
	// Busy: another thread is using the context.
	Busy Errno = 4
	// RuntimeError: the framework failed, the host's deadline passed, or the process that ran the guest's own model is gone: then it
	// may be loaded again.
	RuntimeError Errno = 5
	// UnsupportedOperation: the framework, target or element type is not available here, or the host's policy forbids it.
	UnsupportedOperation Errno = 6
	// TooLarge: a quota of the host is exceeded, or a buffer is too small.
	TooLarge Errno = 7
	// NotFound: the host has no model of that name.
	NotFound Errno = 8
	// EndOfSequence: the answer is complete.
	EndOfSequence Errno = 100
	// ContextFull: the model's context window is full.
	ContextFull Errno = 101
	// PromptTooLong: the prompt does not fit into the context window.
	PromptTooLong Errno = 102
	// ModelNotFound: the model's file is missing.
	ModelNotFound Errno = 103
)

var names = map[Errno]string{
	InvalidArgument: "invalid_argument", InvalidEncoding: "invalid_encoding", MissingMemory: "missing_memory", Busy: "busy",
	RuntimeError: "runtime_error", UnsupportedOperation: "unsupported_operation", TooLarge: "too_large", NotFound: "not_found",
	EndOfSequence: "end_of_sequence", ContextFull: "context_full", PromptTooLong: "prompt_too_long", ModelNotFound: "model_not_found",
}

// Error is the name, as the standard writes it, and the number.
func (e Errno) Error() string {
	name := names[e]
	if name == "" {
		name = "unknown error"
	}
	return name + " (" + strconv.FormatUint(uint64(e), 10) + ")"
}

// Error is what all functions of this package return that fail.
type Error struct {
	Call   string // "set_input"
	Errno  Errno
	Needed int // of TooLarge: how many bytes a buffer has to have; 0 if it is not about a buffer
}

func (e *Error) Error() string {
	text := e.Call + ": " + e.Errno.Error()
	if e.Needed > 0 {
		text += ": " + strconv.Itoa(e.Needed) + " bytes are needed"
	}
	return text
}

func (e *Error) Unwrap() error { return e.Errno }

func check(call string, code uint32) error {
	if code == 0 {
		return nil
	}
	return &Error{Call: call, Errno: Errno(code)}
}
