//! Work on all threads of a pool. The parts of rayon's iterators are compiled again for each closure: here they are compiled once.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::ThreadPool;
use rayon::iter::{IndexedParallelIterator as _, IntoParallelIterator as _, ParallelIterator as _};

/// What `work` makes of each number below `count`, in order, or one of its failures. Without a pool, that of the calling thread works.
pub(crate) fn map<T: Send, E: Send>(
    pool: Option<&ThreadPool>,
    count: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    map_with(pool, count, || (), |(), index| work(index))
}

/// The same, with a state that only one thread uses at a time. There are about as many as threads.
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
    // Those that are missing were not begun because another one failed.
    let results =
        results.into_iter().filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner));
    results.collect()
}

/// The same with values that are used up.
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

/// Ends early if `work` gives `false`.
fn for_each(pool: Option<&ThreadPool>, count: usize, work: &(dyn Fn(usize) -> bool + Sync)) {
    let all = || (0..count).into_par_iter().with_max_len(1).try_for_each(|index| work(index).then_some(()));
    // Whether something failed is among the results.
    let _ = match pool {
        Some(pool) => pool.install(all),
        None => all(),
    };
}

/// Locks, also after another thread has panicked with the lock: the panic ends the whole work.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
