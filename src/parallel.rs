//! Functions that run work on the threads of a pool, and a queue for work that must be done in order.
//!
//! rayon's iterators are compiled again for each closure. With these functions, they are compiled only once.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rayon::ThreadPool;
use rayon::iter::{IndexedParallelIterator as _, IntoParallelIterator as _, ParallelIterator as _};

/// Calls `work` with each number below `count`, in parallel. Returns the results in the order of the numbers.
/// If a call fails, stops early and returns one of the errors. If `pool` is `None`, the work runs in the
/// rayon pool of the calling thread or, if this thread belongs to no pool, in rayon's global pool.
pub(crate) fn map<T: Send, E: Send>(
    pool: Option<&ThreadPool>,
    count: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    map_with(pool, count, || (), |(), index| work(index))
}

/// Like [`map`], but `work` also receives a state, which only one call uses at a time. Later calls reuse the
/// state, so there are hardly more states than threads.
pub(crate) fn map_with<S: Send, T: Send, E: Send>(
    pool: Option<&ThreadPool>,
    count: usize,
    new_state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let idle = Mutex::new(Vec::new());
    let mut results = Vec::new();
    results.resize_with(count, || None);
    let results = Mutex::new(Ok(results));
    for_each(pool, count, &|index| {
        let state = lock(&idle).pop();
        let mut state = state.unwrap_or_else(&new_state);
        let result = work(&mut state, index);
        lock(&idle).push(state);
        let mut results = lock(&results);
        match (result, &mut *results) {
            (Ok(result), Ok(results)) => results[index] = Some(result),
            (Err(error), Ok(_)) => *results = Err(error),
            (_, Err(_)) => {}
        }
        results.is_ok()
    });
    Ok(into_inner(results)?.into_iter().flatten().collect())
}

/// Like [`map_with`], but consumes `values` and calls `work` with each of them.
pub(crate) fn consume<S: Send, V: Send, T: Send, E: Send>(
    pool: Option<&ThreadPool>,
    values: Vec<V>,
    new_state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, V) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let count = values.len();
    let values = Mutex::new(values.into_iter().map(Some).collect::<Vec<_>>());
    map_with(pool, count, new_state, |state, index| {
        let value = lock(&values)[index].take();
        work(state, value.expect("each number comes once"))
    })
}

/// Runs `work` once on each thread of a pool. Returns all results, in no particular order.
pub(crate) fn broadcast<T: Send>(pool: &ThreadPool, work: impl Fn() -> T + Sync) -> Vec<T> {
    let results = Mutex::new(Vec::new());
    run_on_each(pool, &|| {
        let result = work();
        lock(&results).push(result);
    });
    into_inner(results)
}

fn run_on_each(pool: &ThreadPool, work: &(dyn Fn() + Sync)) {
    pool.broadcast(|_| work());
}

/// Calls `work` for each number below `count`. Stops early if `work` returns `false`.
fn for_each(pool: Option<&ThreadPool>, count: usize, work: &(dyn Fn(usize) -> bool + Sync)) {
    let all = || (0..count).into_par_iter().with_max_len(1).try_for_each(|index| work(index).then_some(()));
    // The result is ignored: `None` means that `work` returned `false`, and the caller has already stored the
    // error.
    let _ = match pool {
        Some(pool) => pool.install(all),
        None => all(),
    };
}

/// Locks a mutex, even if another thread panicked while holding the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The value of a mutex, even if another thread panicked while holding the lock.
pub(crate) fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Admits pieces of work one at a time, in the order of their numbers.
///
/// Workers must take the pieces in order, and each worker must end its turn before it takes its next piece.
/// Then the piece whose turn it is never waits for a later piece, so there cannot be a deadlock.
#[derive(Debug, Default)]
pub(crate) struct OrderedQueue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    stopped: bool,
}

impl OrderedQueue {
    /// Waits until it is the turn of the piece with this number. Returns `false` if the queue was stopped.
    pub(crate) fn wait(&self, number: u64) -> bool {
        let mut state = lock(&self.state);
        while state.next != number && !state.stopped {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.stopped
    }

    /// Ends the current turn.
    pub(crate) fn pass(&self) {
        lock(&self.state).next += 1;
        self.changed.notify_all();
    }

    pub(crate) fn is_stopped(&self) -> bool {
        lock(&self.state).stopped
    }

    /// Stops the queue: all current and later calls of [`wait`](Self::wait) return `false`.
    pub(crate) fn stop(&self) {
        lock(&self.state).stopped = true;
        self.changed.notify_all();
    }
}
