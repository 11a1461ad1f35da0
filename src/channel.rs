//! Queues between threads, for few and large values.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::parallel::lock;

/// A queue with space for `space` values. [`Sender::send`] waits while the queue is full.
pub(crate) fn bounded<T>(space: usize) -> (Sender<T>, Receiver<T>) {
    let queue = Arc::new(Queue {
        state: Mutex::new(State { values: VecDeque::new(), senders: 1, receivers: 1 }),
        space,
        value_added: Condvar::new(),
        value_taken: Condvar::new(),
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

#[derive(Debug)]
struct Queue<T> {
    state: Mutex<State<T>>,
    /// The maximum number of values in the queue.
    space: usize,
    /// Wakes receivers: a value was added, or the last sender is gone.
    value_added: Condvar,
    /// Wakes senders: a value was taken, or the last receiver is gone.
    value_taken: Condvar,
}

#[derive(Debug)]
struct State<T> {
    values: VecDeque<T>,
    senders: usize,
    receivers: usize,
}

#[derive(Debug)]
pub(crate) struct Sender<T>(Arc<Queue<T>>);

#[derive(Debug)]
pub(crate) struct Receiver<T>(Arc<Queue<T>>);

impl<T> Sender<T> {
    /// Sends a value. Waits while the queue is full.
    pub(crate) fn send(&self, value: T) -> Result<(), Error> {
        self.send_within(value, Duration::MAX)
    }

    /// Sends a value, unless the queue is full.
    pub(crate) fn try_send(&self, value: T) -> Result<(), Error> {
        self.send_within(value, Duration::ZERO)
    }

    fn send_within(&self, value: T, time: Duration) -> Result<(), Error> {
        let Queue { state, space, value_added, value_taken } = &*self.0;
        let must_wait = |state: &mut State<T>| state.values.len() >= *space && state.receivers > 0;
        let waited = value_taken.wait_timeout_while(lock(state), time, must_wait);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        if state.receivers == 0 {
            return Err(Error::Closed);
        }
        if state.values.len() >= *space {
            return Err(Error::Timeout);
        }
        state.values.push_back(value);
        value_added.notify_one();
        Ok(())
    }

    /// The number of values in the queue.
    pub(crate) fn len(&self) -> usize {
        lock(&self.0.state).values.len()
    }
}

impl<T> Receiver<T> {
    /// Waits for the next value.
    pub(crate) fn recv(&self) -> Result<T, Error> {
        self.recv_timeout(Duration::MAX)
    }

    /// Waits for the next value, for at most this time.
    pub(crate) fn recv_timeout(&self, time: Duration) -> Result<T, Error> {
        let Queue { state, value_added, value_taken, .. } = &*self.0;
        let must_wait = |state: &mut State<T>| state.values.is_empty() && state.senders > 0;
        let waited = value_added.wait_timeout_while(lock(state), time, must_wait);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        match state.values.pop_front() {
            Some(value) => {
                value_taken.notify_one();
                Ok(value)
            }
            None if state.senders == 0 => Err(Error::Closed),
            None => Err(Error::Timeout),
        }
    }

    /// The next value. Does not wait if the queue is empty.
    pub(crate) fn try_recv(&self) -> Result<T, Error> {
        self.recv_timeout(Duration::ZERO)
    }

    /// Receives values, and waits for further ones, until the queue is empty and has no senders.
    pub(crate) fn iter(&self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| self.recv().ok())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        lock(&self.0.state).senders += 1;
        Self(Arc::clone(&self.0))
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        lock(&self.0.state).receivers += 1;
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.senders -= 1;
        if state.senders == 0 {
            self.0.value_added.notify_all();
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.receivers -= 1;
        if state.receivers == 0 {
            self.0.value_taken.notify_all();
            // The values are dropped after the lock is released. A value can be the receiver of another
            // queue. Dropping it locks that queue, and a thread should not hold two locks.
            let values = std::mem::take(&mut state.values);
            drop(state);
            drop(values);
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
