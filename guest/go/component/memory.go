//go:build wasip1

package component

import "unsafe"

// The host gets memory for its answers by cabi_realloc, while it answers. The guest may call nothing then, and Go's allocator reads clocks.
// So room for an answer is there before the guest asks.

var (
	early     [1 << 18]byte // what the adapter of WASI takes while the runtime starts, and keeps: its stack and its state
	earlyUsed int
	small     [1 << 18]byte // lists of outputs with their names, shapes, messages
	room      []byte
)

//go:wasmexport cabi_realloc
//go:nosplit
func realloc(old unsafe.Pointer, oldSize, align, size uint32) (answer unsafe.Pointer) {
	if room != nil {
		answer, room = take(room, align, size)
		return answer
	}
	answer, rest := take(early[earlyUsed:], align, size)
	earlyUsed = len(early) - len(rest)
	return answer
}

//go:nosplit
func take(room []byte, align, size uint32) (unsafe.Pointer, []byte) {
	skipped := -uint32(uintptr(unsafe.Pointer(unsafe.SliceData(room)))) & (align - 1)
	return unsafe.Pointer(unsafe.SliceData(room[skipped : skipped+size])), room[skipped+size:]
}

//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()

// begin says where the host's next answers go. No other goroutine runs until end, so that none asks in between.
func begin(answers []byte) {
	procPin()
	room = answers
}

func end() {
	room = nil
	procUnpin()
}

// listIn is a list in small. The next answer overwrites it.
func listIn[T any](written list) []T {
	if written.len == 0 {
		return nil
	}
	start := written.data - uint32(uintptr(unsafe.Pointer(&small)))
	return unsafe.Slice((*T)(unsafe.Pointer(&small[start])), written.len)
}
