//! One call of a guest that has all to itself: what it leaves behind goes with it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use wasmtime::{Error, Result, bail};

/// How soon a guest that waits for something is missed.
pub const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// Of one run: streams, what waits, headers, bodies …
pub const MOST_RESOURCES: usize = 512;

/// What a call may wait for, beside what is in this process.
#[derive(PartialEq)]
pub enum Waits {
    Time,
    TimeAndSockets, // which takes three files
}

/// What `call` does on a runtime of its own. A mistake of a library's costs this call, and not the server.
pub fn alone<T>(waits: Waits, call: impl FnOnce(&Runtime) -> Result<T>) -> Result<T> {
    let mut builder = Builder::new_current_thread();
    if waits == Waits::TimeAndSockets {
        builder.enable_io();
    }
    let runtime = builder.enable_time().max_blocking_threads(1).build()?;
    let done = catch_unwind(AssertUnwindSafe(|| call(&runtime)));
    runtime.shutdown_background(); // which waits for none of its threads
    done.unwrap_or_else(|_| Err(Error::msg("the host failed")))
}

/// Until it is done, or the embedder says that it should end: what waits runs no code that looks at the epoch.
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
