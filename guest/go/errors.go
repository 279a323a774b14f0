//go:build wasip1

package wasinn

import "strconv"

// Errno says why a call failed: the standard's numbers, and those of hosts with models that generate text. errors.Is(err,
// wasinn.NotFound) asks for one. On wasinn, LastError has the message.
type Errno uint32

const (
	// InvalidArgument: a handle or index is not valid. Or a tensor's type, dims or size do not fit the model. Or an input was
	// never set. Or there was no compute before GetOutput, or the output has another type.
	InvalidArgument Errno = 1
	// InvalidEncoding: the encoding is unknown, or the bytes have another format.
	InvalidEncoding Errno = 2
	// MissingMemory: the module does not export its memory as "memory".
	MissingMemory Errno = 3
	// Busy: another thread is using the context.
	Busy Errno = 4
	// RuntimeError: the framework failed, or the host's deadline passed. Or the OS process with the guest's own model ended: then
	// the guest may load it again.
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

// Error returns the standard's name and the number.
func (e Errno) Error() string {
	name := names[e]
	if name == "" {
		name = "unknown error"
	}
	return name + " (" + strconv.FormatUint(uint64(e), 10) + ")"
}

// Error is the error of every function of this package.
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
