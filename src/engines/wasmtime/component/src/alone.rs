//! One call of a guest on a runtime of its own, which ends with the call.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use wasmtime::{Error, Result, bail};

/// How often the host checks whether a waiting guest should end.
pub const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// The limit of one run: streams, pollables, headers, bodies …
pub const MOST_RESOURCES: usize = 512;

/// Events outside of this process that a call may wait for.
#[derive(PartialEq)]
pub enum Waits {
    Time,
    TimeAndSockets, // needs three descriptors
}

pub fn new_runtime(waits: Waits) -> Result<Runtime> {
    let mut builder = Builder::new_current_thread();
    if waits == Waits::TimeAndSockets {
        builder.enable_io();
    }
    Ok(builder.enable_time().max_blocking_threads(1).build()?)
}

/// Runs `call` on its own runtime. A panic of a library fails this call, and not the server.
pub fn alone<T>(waits: Waits, call: impl FnOnce(&Runtime) -> Result<T>) -> Result<T> {
    let runtime = new_runtime(waits)?;
    let done = caught(|| call(&runtime));
    runtime.shutdown_background(); // without waiting for its threads
    done
}

/// A panic becomes an error.
pub fn caught<T>(call: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| Err(Error::msg("the host failed")))
}

/// Runs `what` until it is done or the embedder ends it: a waiting guest runs no code that checks the epoch.
pub async fn until_interrupted<T>(
    what: impl Future<Output = Result<T>>,
    is_interrupted: impl Fn() -> bool,
) -> Result<T> {
    let mut what = pin!(what);
    loop {
        match timeout(LOOK_AGAIN, what.as_mut()).await {
            Ok(done) => return done,
            Err(_) if is_interrupted() => bail!("the guest is interrupted"),
            Err(_) => {}
        }
    }
}
