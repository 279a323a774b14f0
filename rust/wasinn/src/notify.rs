//! Wakes the task that polls a guest's future.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;

use crate::begun::Wake;

#[derive(Clone, Default)]
pub struct Notify(Arc<Mutex<Option<Waker>>>);

impl Wake for Notify {
    fn register(&self, waker: &Waker) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| waker.clone()).clone_from(waker);
    }

    fn wake(self) {
        let waker = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
