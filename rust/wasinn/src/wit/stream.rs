//! compute-stream of wasi:nn@0.3.0-draft: a generation as a stream of pieces, and its outcome as a future.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context as Polling, Poll, Waker, ready};

use wasinn_sys::wasinn_wit_piece;
use wasmtime::component::{
    Destination, FutureProducer, FutureReader, Resource, StreamProducer, StreamReader, StreamResult,
};
use wasmtime::{AsContextMut, Result, StoreContextMut};

use crate::begun::Wake;
use crate::wit::blocking::Callers;
use crate::wit::calls::Calls;
use crate::wit::inference::{HeldInputs, Inputs};
use crate::wit::task::Task;
use crate::wit::types::{Context, Fallible, Instance, Store};
use crate::wit::views::slice_of;

/// named-piece
type Piece = (String, Vec<u8>);

pub fn define_stream<T: 'static, C: Callers<T>>(instance: &mut Instance<'_, T>, calls: Calls<C>) -> Result<()> {
    let table = calls.library.functions;
    type Compute = (Resource<Context>, Inputs);
    let stream = move |mut store: Store<'_, T>, (context, inputs): Compute| {
        let (guest, wake) = calls.callers.caller(store.as_context_mut());
        let held = HeldInputs::hold(&mut store, &inputs)?;
        let inputs = held.tensors();
        let task = Task::generation(calls.library, guest, wake, |task| {
            // SAFETY: the arguments are valid for the call.
            unsafe { (table.task_generate)(guest, context.rep(), inputs.as_ptr(), inputs.len(), task) }
        })?;
        let end = Arc::new(Mutex::new(End { state: State::GoesOn, waker: None }));
        let outcome = FutureReader::new(&mut store, Outcome(end.clone()))?;
        let pieces = StreamReader::new(&mut store, Pieces { task: Some(task), piece: None, end })?;
        Ok(((pieces, outcome),))
    };
    instance.func_wrap("[method]graph-execution-context.compute-stream", stream)
}

/// Each read begins a step, unless the one of an earlier read goes on. No piece is made ahead.
struct Pieces<W: Wake> {
    task: Option<Task<W>>, // none at the end
    piece: Option<Piece>,  // that no read has taken: it waited only, or was cancelled
    end: Arc<Mutex<End<W>>>,
}

/// The end of a generation, for the future.
struct End<W: Wake> {
    state: State<W>,
    waker: Option<Waker>,
}

enum State<W: Wake> {
    GoesOn,
    /// It was complete, or nobody reads on.
    Good,
    /// An error of the guest, and the task, which keeps the guest valid.
    Bad(u32, Task<W>),
    Taken,
}

struct Outcome<W: Wake>(Arc<Mutex<End<W>>>);

fn lock<W: Wake>(end: &Mutex<End<W>>) -> MutexGuard<'_, End<W>> {
    end.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<W: Wake> Pieces<W> {
    /// Fills `piece`; false at the end.
    fn poll_piece(&mut self, context: &Polling<'_>) -> Poll<Result<bool>> {
        let Some(task) = &mut self.task else { return Poll::Ready(Ok(false)) };
        if !task.goes_on() {
            task.step()?;
        }
        ready!(task.poll(context));
        let (out, pieces) = task.take::<wasinn_wit_piece>()?;
        if let Some(piece) = pieces.elements().first() {
            self.piece = Some(copy(piece));
            return Poll::Ready(Ok(true));
        }
        let task = self.task.take();
        self.end(match task {
            Some(task) if out.is_error != 0 => State::Bad(out.rep, task),
            _ => State::Good,
        });
        Poll::Ready(Ok(false))
    }

    fn end(&self, state: State<W>) {
        let mut end = lock(&self.end);
        if let State::GoesOn = end.state {
            end.state = state;
        }
        let waker = end.waker.take();
        drop(end);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

fn copy(piece: &wasinn_wit_piece) -> Piece {
    // SAFETY: the view of the piece is valid.
    let (name, data) = unsafe { (slice_of(piece.name.cast(), piece.name_size), slice_of(piece.data, piece.size)) };
    (String::from_utf8_lossy(name).into_owned(), data.to_vec())
}

impl<W: Wake, D> StreamProducer<D> for Pieces<W> {
    type Item = Piece;
    type Buffer = Option<Piece>;

    fn poll_produce<'a>(
        self: Pin<&mut Self>,
        context: &mut Polling<'_>,
        store: StoreContextMut<'a, D>,
        mut destination: Destination<'a, Piece, Option<Piece>>,
        is_cancelled: bool,
    ) -> Poll<Result<StreamResult>> {
        let this = self.get_mut();
        if this.piece.is_none() {
            if is_cancelled && !this.task.as_ref().is_some_and(Task::goes_on) {
                return Poll::Ready(Ok(StreamResult::Cancelled));
            }
            match this.poll_piece(context)? {
                Poll::Ready(true) => {}
                Poll::Ready(false) => return Poll::Ready(Ok(StreamResult::Dropped)),
                // The step goes on, for a later read.
                Poll::Pending if is_cancelled => return Poll::Ready(Ok(StreamResult::Cancelled)),
                Poll::Pending => return Poll::Pending,
            }
        }
        // A read of no element only waits for one.
        if destination.remaining(store) != Some(0) {
            destination.set_buffer(this.piece.take());
        }
        Poll::Ready(Ok(StreamResult::Completed))
    }
}

impl<W: Wake> Drop for Pieces<W> {
    fn drop(&mut self) {
        self.task = None;
        self.end(State::Good);
    }
}

impl<W: Wake, D> FutureProducer<D> for Outcome<W> {
    type Item = Fallible<()>;

    fn poll_produce(
        self: Pin<&mut Self>,
        context: &mut Polling<'_>,
        _: StoreContextMut<'_, D>,
        is_cancelled: bool,
    ) -> Poll<Result<Option<Fallible<()>>>> {
        let mut end = lock(&self.0);
        Poll::Ready(Ok(match std::mem::replace(&mut end.state, State::Taken) {
            State::Good | State::Taken => Some(Ok(())),
            State::Bad(error, _) => Some(Err(Resource::new_own(error))),
            State::GoesOn => {
                end.state = State::GoesOn;
                if !is_cancelled {
                    end.waker = Some(context.waker().clone());
                    return Poll::Pending;
                }
                None
            }
        }))
    }
}

/// An error that nobody read is the host's to drop.
impl<W: Wake> Drop for End<W> {
    fn drop(&mut self) {
        if let State::Bad(error, task) = &self.state {
            task.drop_error(*error);
        }
    }
}
