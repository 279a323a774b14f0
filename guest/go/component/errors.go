//go:build wasip1

package component

// Code says what went wrong. errors.Is(err, component.NotFound) asks for one.
type Code uint32

const (
	InvalidArgument      Code = 0 // a shape, type, size or name does not fit the model
	InvalidEncoding      Code = 1 // the bytes are no model of that encoding
	Timeout              Code = 2 // the host's deadline passed
	RuntimeError         Code = 3 // the framework failed
	UnsupportedOperation Code = 4 // the framework, target or element type is not available here
	TooLarge             Code = 5 // a quota of the host is exceeded
	NotFound             Code = 6 // the host has no model of that name
	Security             Code = 7 // the host's policy forbids it
	Unknown              Code = 8
)

var names = []string{"invalid-argument", "invalid-encoding", "timeout", "runtime-error", "unsupported-operation", "too-large", "not-found", "security", "unknown"}

// Error returns the standard's name.
func (c Code) Error() string { return names[min(c, Unknown)] }

// Error is the error of every function of this package.
type Error struct {
	Code    Code
	Message string // the whole message of host and framework
}

func (e *Error) Error() string { return e.Code.Error() + ": " + e.Message }

func (e *Error) Unwrap() error { return e.Code }

// errorOf reads the host's error, and drops it.
func errorOf(handle uint32) error {
	defer nnErrorDrop(handle)
	var text list
	begin(small[:])
	defer end()
	nnErrorData(handle, &text)
	return &Error{Code(nnErrorCode(handle)), string(listIn[byte](text))}
}

func (r result) error() error {
	if r.isError == 0 {
		return nil
	}
	return errorOf(r.handle)
}
