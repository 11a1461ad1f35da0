//! Runs work on all threads of a pool. rayon's iterators are compiled again for each closure; these functions
//! compile that part only once.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::ThreadPool;
use rayon::iter::{IndexedParallelIterator as _, IntoParallelIterator as _, ParallelIterator as _};

/// The results of `work` for each number below `count`, in order, or one of its errors. Without a pool, the
/// calling thread does the work.
pub(crate) fn map<T: Send, E: Send>(
    pool: Option<&ThreadPool>,
    count: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    map_with(pool, count, || (), |(), index| work(index))
}

/// The same, with a state that only one thread uses at a time. There are about as many states as threads.
pub(crate) fn map_with<S: Send, T: Send, E: Send>(
    pool: Option<&ThreadPool>,
    count: usize,
    new_state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let idle = Mutex::new(Vec::new());
    let results: Vec<Mutex<Option<Result<T, E>>>> = (0..count).map(|_| Mutex::new(None)).collect();
    for_each(pool, count, &|index| {
        let state = lock(&idle).pop();
        let mut state = state.unwrap_or_else(&new_state);
        let result = work(&mut state, index);
        lock(&idle).push(state);
        let is_ok = result.is_ok();
        *lock(&results[index]) = Some(result);
        is_ok
    });
    // Missing results were not started, because another one failed.
    let results =
        results.into_iter().filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner));
    results.collect()
}

/// The same for values that are consumed.
pub(crate) fn consume<S: Send, V: Send, T: Send, E: Send>(
    pool: Option<&ThreadPool>,
    values: Vec<V>,
    new_state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, V) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let values: Vec<_> = values.into_iter().map(|value| Mutex::new(Some(value))).collect();
    map_with(pool, values.len(), new_state, |state, index| {
        let value = lock(&values[index]).take();
        work(state, value.expect("each number comes once"))
    })
}

/// Stops early if `work` returns `false`.
fn for_each(pool: Option<&ThreadPool>, count: usize, work: &(dyn Fn(usize) -> bool + Sync)) {
    let all = || (0..count).into_par_iter().with_max_len(1).try_for_each(|index| work(index).then_some(()));
    // The results contain the errors.
    let _ = match pool {
        Some(pool) => pool.install(all),
        None => all(),
    };
}

/// Locks, even if another thread panicked while holding the lock: the panic ends the whole work.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
