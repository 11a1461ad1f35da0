//! Queues between threads, for few and large values.
//!
//! The code that waits does not depend on the type of the values and is compiled once. A lock-free queue
//! would be compiled for each type.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::parallel::lock;

/// A queue with space for `space` values. [`Sender::send`] waits while the queue is full.
pub(crate) fn bounded<T>(space: usize) -> (Sender<T>, Receiver<T>) {
    let queue = Arc::new(Queue {
        values: Mutex::new(Some(VecDeque::new())),
        space: Tokens::new(space),
        filled: Tokens::new(0),
        senders: AtomicUsize::new(1),
        receivers: AtomicUsize::new(1),
    });
    (Sender(Arc::clone(&queue)), Receiver(queue))
}

/// A queue that is never full.
pub(crate) fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    bounded(usize::MAX)
}

/// Why a value was not sent or received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    /// A value cannot be sent, because there are no receivers. Or no value can be received, because the queue
    /// is empty and there are no senders.
    #[error("the other side of a queue is gone")]
    Closed,
    /// The queue stayed full, or empty, for as long as the caller wanted to wait.
    #[error("a queue stayed full or empty")]
    Timeout,
}

/// A number of tokens. A thread that takes a token can wait until one is available.
#[derive(Debug)]
struct Tokens {
    state: Mutex<TokenState>,
    changed: Condvar,
}

#[derive(Debug)]
struct TokenState {
    count: usize,
    is_closed: bool,
}

impl Tokens {
    fn new(count: usize) -> Self {
        Self { state: Mutex::new(TokenState { count, is_closed: false }), changed: Condvar::new() }
    }

    fn give(&self) {
        let mut state = lock(&self.state);
        state.count = state.count.saturating_add(1);
        self.changed.notify_one();
    }

    /// Takes one token. If there is none, waits for one until the time `until`, or without a time limit if
    /// `until` is `None`.
    fn take(&self, until: Option<Instant>) -> Result<(), Error> {
        let mut state = lock(&self.state);
        loop {
            if state.count > 0 {
                state.count -= 1;
                return Ok(());
            }
            if state.is_closed {
                return Err(Error::Closed);
            }
            state = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => return Err(Error::Timeout),
                Some(left) => {
                    self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Records that no more tokens will be given. If no tokens are left, [`take`](Self::take) then fails
    /// instead of waiting.
    fn close(&self) {
        lock(&self.state).is_closed = true;
        self.changed.notify_all();
    }
}

#[derive(Debug)]
struct Queue<T> {
    /// The values in the queue; `None` once there are no receivers.
    values: Mutex<Option<VecDeque<T>>>,
    /// One token for each value that the queue can still store.
    space: Tokens,
    /// One token for each value in the queue.
    filled: Tokens,
    senders: AtomicUsize,
    receivers: AtomicUsize,
}

#[derive(Debug)]
pub(crate) struct Sender<T>(Arc<Queue<T>>);

#[derive(Debug)]
pub(crate) struct Receiver<T>(Arc<Queue<T>>);

impl<T> Sender<T> {
    /// Sends a value. Waits while the queue is full.
    pub(crate) fn send(&self, value: T) -> Result<(), Error> {
        self.send_until(value, None)
    }

    /// Sends a value, unless the queue is full.
    pub(crate) fn try_send(&self, value: T) -> Result<(), Error> {
        self.send_until(value, Some(Instant::now()))
    }

    fn send_until(&self, value: T, until: Option<Instant>) -> Result<(), Error> {
        self.0.space.take(until)?;
        match &mut *lock(&self.0.values) {
            Some(values) => values.push_back(value),
            None => return Err(Error::Closed),
        }
        self.0.filled.give();
        Ok(())
    }

    /// The number of values in the queue.
    pub(crate) fn len(&self) -> usize {
        lock(&self.0.filled.state).count
    }
}

impl<T> Receiver<T> {
    /// Waits for the next value.
    pub(crate) fn recv(&self) -> Result<T, Error> {
        self.receive_until(None)
    }

    /// Waits for the next value, for at most this time.
    pub(crate) fn recv_timeout(&self, time: Duration) -> Result<T, Error> {
        self.receive_until(Some(Instant::now() + time))
    }

    /// The next value. Does not wait if the queue is empty.
    pub(crate) fn try_recv(&self) -> Result<T, Error> {
        self.receive_until(Some(Instant::now()))
    }

    fn receive_until(&self, until: Option<Instant>) -> Result<T, Error> {
        self.0.filled.take(until)?;
        let value = lock(&self.0.values).as_mut().and_then(VecDeque::pop_front);
        self.0.space.give();
        value.ok_or(Error::Closed)
    }

    /// Receives values, and waits for further ones, until the queue is empty and has no senders.
    pub(crate) fn iter(&self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| self.recv().ok())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.senders.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(&self.0))
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.0.receivers.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if self.0.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.filled.close();
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if self.0.receivers.fetch_sub(1, Ordering::AcqRel) == 1 {
            // The values are dropped after the lock is released. A value can be the receiver of another
            // queue. Dropping it locks that queue, and a thread should not hold two locks.
            let values = lock(&self.0.values).take();
            drop(values);
            // Wakes the senders that wait; their calls then return an error.
            self.0.space.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn each_value_is_received_once_and_in_the_order_of_its_sender() {
        for space in [1, 3, usize::MAX] {
            let (sender, receiver) = bounded(space);
            let (results, sums) = unbounded();
            thread::scope(|scope| {
                for thread in 0..4_u64 {
                    let sender = sender.clone();
                    scope.spawn(move || (0..1000).for_each(|value| sender.send((thread, value)).unwrap()));
                    let (receiver, results) = (receiver.clone(), results.clone());
                    scope.spawn(move || {
                        let (mut last, mut sum) = ([0; 4], 0);
                        for (thread, value) in receiver.iter() {
                            assert!(last[thread as usize] <= value);
                            last[thread as usize] = value;
                            sum += value;
                        }
                        results.send(sum).unwrap();
                    });
                }
                drop((sender, results));
                assert_eq!(sums.iter().sum::<u64>(), 4 * 499_500);
            });
            assert_eq!(receiver.try_recv(), Err(Error::Closed));
        }
    }

    #[test]
    fn waiting_ends_when_the_other_side_is_dropped() {
        let (sender, receiver) = bounded(1);
        assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Err(Error::Timeout));
        sender.send(1).unwrap();
        assert_eq!((sender.try_send(2), sender.len()), (Err(Error::Timeout), 1));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| sender.send(2));
            thread::sleep(Duration::from_millis(20));
            drop(receiver);
            assert_eq!(waiting.join().unwrap(), Err(Error::Closed));
        });
        let (sender, receiver) = bounded::<u8>(1);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| receiver.recv());
            thread::sleep(Duration::from_millis(20));
            drop(sender);
            assert_eq!(waiting.join().unwrap(), Err(Error::Closed));
        });
    }

    #[test]
    fn values_are_dropped_with_the_last_receiver() {
        let (outer, waiting) = bounded(1);
        let (sender, receiver) = bounded(1);
        outer.send(receiver).unwrap();
        drop(waiting);
        assert_eq!(sender.send(1), Err(Error::Closed));
    }
}
