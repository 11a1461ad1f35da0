//! Runs jobs in parallel and processes their results in order.

use std::sync::Mutex;

use crate::parallel::OrderedQueue;
use crate::parallel::lock;

/// Runs jobs on `threads` threads and passes the results to the caller in the order of the jobs. At most as
/// many results as there are threads wait for earlier ones.
pub(super) fn in_order<J: Send, R, E: Send>(
    threads: usize,
    jobs: impl Iterator<Item = Result<J, E>> + Send,
    work: impl Fn(J) -> Result<R, E> + Sync,
    take: impl FnMut(R) -> Result<(), E> + Send,
) -> Result<(), E> {
    let (jobs, taker, turn) = (Mutex::new((0..).zip(jobs)), Mutex::new(take), OrderedQueue::default());
    let work_on_jobs = || {
        // A panic in one thread must not leave the others waiting.
        let stop = StopOnDrop(&turn);
        loop {
            let next = lock(&jobs).next();
            let Some((number, job)) = next else { break };
            let result = work(job?)?;
            if !turn.wait(number) {
                break;
            }
            (lock(&taker))(result)?;
            turn.pass();
        }
        std::mem::forget(stop);
        Ok(())
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work_on_jobs)).collect();
        let mut result = work_on_jobs();
        for other in others {
            match other.join() {
                Ok(of_other) => result = result.and(of_other),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        result
    })
}

struct StopOnDrop<'t>(&'t OrderedQueue);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_an_error_ends_the_work() {
        for threads in [1, 2, 7] {
            let mut taken = Vec::new();
            let square = |number: u64| {
                std::thread::sleep(std::time::Duration::from_micros(number * 7 % 50));
                Ok::<_, &str>(number * number)
            };
            in_order(threads, (0..200).map(Ok), square, |square| {
                taken.push(square);
                Ok(())
            })
            .unwrap();
            assert_eq!(taken, (0..200).map(|number| number * number).collect::<Vec<u64>>());
            let failing = |number: u64| if number == 50 { Err("fifty") } else { Ok(number) };
            let mut last = 0;
            let result = in_order(threads, (0..).map(Ok), failing, |number| {
                last = number;
                Ok(())
            });
            assert_eq!(result, Err("fifty"));
            assert!(last < 50, "{last}");
            let result =
                in_order(threads, (0..).map(Ok), Ok, |number| if number == 9 { Err("nine") } else { Ok(()) });
            assert_eq!(result, Err("nine"));
        }
    }
}
