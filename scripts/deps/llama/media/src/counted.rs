//! Counts the memory of decoders, which allocate as their files say, without a limit. Each block of this thread is
//! counted, and the total is checked at the next of many points at which the decoder can stop.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use crate::{Fault, Leave};

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    let _ = HELD.try_with(|held| held.set(held.get().wrapping_add(bytes)));
}

struct Counting;

// SAFETY: the system's allocator does all of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        System.alloc(layout)
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        System.alloc_zeroed(layout)
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        System.dealloc(block, layout)
    }
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        System.realloc(block, layout, size)
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The memory for one file.
pub struct Ledger {
    leave: Leave,
    before: isize,
    asked: Cell<u64>,
}

impl Ledger {
    pub fn new(leave: Leave) -> Self {
        Ledger { leave, before: HELD.get(), asked: Cell::new(0) }
    }

    /// Whether to continue with the current memory and so many bytes more.
    pub fn ask(&self, more: u64) -> Result<(), Fault> {
        let held = u64::try_from(HELD.get().wrapping_sub(self.before)).unwrap_or(0).saturating_add(more);
        let fresh = held.saturating_sub(self.asked.get());
        self.leave.take(fresh)?;
        self.asked.set(self.asked.get() + fresh);
        Ok(())
    }
}
