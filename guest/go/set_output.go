//go:build wasip1

package wasinn

import (
	"runtime"
	"sync"
	"unsafe"
)

// SetOutput makes every later compute of this context write output index to buffer, and its size in bytes to written. GetOutput
// is not needed. The host keeps their addresses, so both are pinned until Finalize, or until SetOutput for the same output. Read
// them between computes. If the buffer is too small, Compute fails with TooLarge, and GetOutput still works. From now on only the
// outputs that were set are there. Only on wasinn.
func SetOutput[T Element](c Context, index uint32, buffer []T, written *uint32) error {
	at := place{c.handle, port{index: index}}
	return places.set("set_output", at, buffer0(buffer), written, func(data unsafe.Pointer) uint32 {
		return extSetOutput(c.handle, index, data, uint32(sizeOf(buffer)), written)
	})
}

// SetOutputByName is SetOutput by name.
func SetOutputByName[T Element](c Context, name string, buffer []T, written *uint32) error {
	at := place{c.handle, port{named: true, name: name}}
	return places.set("set_output_by_name", at, buffer0(buffer), written, func(data unsafe.Pointer) uint32 {
		return extSetOutputByName(c.handle, name, data, uint32(sizeOf(buffer)), written)
	})
}

// SelectOutput selects this output: from now on computes need only produce the selected outputs. Only on wasinn.
func (c Context) SelectOutput(index uint32) error {
	return check("set_output", extSetOutput(c.handle, index, nil, 0, nil))
}

// SelectOutputByName is SelectOutput by name.
func (c Context) SelectOutputByName(name string) error {
	return check("set_output_by_name", extSetOutputByName(c.handle, name, nil, 0, nil))
}

// buffer0 gives where the buffer begins. One without bytes is somewhere, for a buffer at 0 only selects.
func buffer0[T Element](buffer []T) unsafe.Pointer {
	if len(buffer) == 0 {
		return unsafe.Pointer(&somewhere)
	}
	return unsafe.Pointer(unsafe.SliceData(buffer))
}

// place is where a context writes an output to.
type place struct {
	context uint32
	port    port
}

// pinnedPlaces has the memory of which the host keeps addresses. It is here and not in a Context, for a Pinner that is freed before it
// has unpinned ends the program.
type pinnedPlaces struct {
	mutex   sync.Mutex
	pinners map[place]*runtime.Pinner
}

var places = pinnedPlaces{pinners: map[place]*runtime.Pinner{}}

func (p *pinnedPlaces) set(call string, at place, data unsafe.Pointer, written *uint32, function func(unsafe.Pointer) uint32) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	pinner := new(runtime.Pinner)
	pinner.Pin(data)
	pinner.Pin(written)
	if err := check(call, function(data)); err != nil {
		pinner.Unpin()
		return err
	}
	if old := p.pinners[at]; old != nil {
		old.Unpin()
	}
	p.pinners[at] = pinner
	return nil
}

func (p *pinnedPlaces) forget(context uint32) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for at, pinner := range p.pinners {
		if at.context == context {
			pinner.Unpin()
			delete(p.pinners, at)
		}
	}
}
