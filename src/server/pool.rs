//! Pools of threads that run queries on databases. Each pool has a short queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rusqlite::InterruptHandle;

use crate::channel::{self, Receiver, Sender, bounded};
use crate::parallel::lock;
use crate::server::answer::Problem;
use crate::server::databases::ServedDatabase;
use crate::server::options::Error;
use crate::store::{self, Database, FileId, Stop};

/// The maximum number of prepared statements cached per connection: enough for all queries, each with several
/// different filters.
const STATEMENTS: usize = 128;

/// The properties of a pool.
#[derive(Clone, Copy)]
pub(super) struct PoolOptions {
    pub(super) name: &'static str,
    pub(super) threads: usize,
    /// The maximum number of queued requests.
    pub(super) waiting: usize,
    /// The maximum number of databases that a thread keeps open.
    pub(super) open: usize,
    /// The nice value of the threads, from 0 (normal priority) to 19 (lowest priority). It has an effect only
    /// on Linux.
    pub(super) nice: u8,
    /// The maximum size of the page cache per connection, in bytes.
    pub(super) page_bytes: u64,
    /// Configures a newly opened connection.
    pub(super) prepare: fn(&Database) -> store::Result<()>,
}

/// The deadline of a request, and whether the client still waits for the answer.
#[derive(Clone)]
pub(super) struct CancelToken {
    pub(super) deadline: Instant,
    state: Arc<CancelState>,
}

#[derive(Default)]
struct CancelState {
    is_cancelled: AtomicBool,
    /// The interrupt handle of the connection that runs the query; `None` if no query runs.
    running: Mutex<Option<InterruptHandle>>,
}

/// Exists while a client waits for an answer. When it is dropped, the query is interrupted.
pub(super) struct CancelOnDrop(Arc<CancelState>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.is_cancelled.store(true, Ordering::Relaxed);
        // The cancel check that SQLite calls during a statement is not enough. SQLite calls it only once per
        // thousand steps, although a step can call a slow function. While SQLite counts rows, it never
        // calls the check.
        if let Some(connection) = &*lock(&self.0.running) {
            connection.interrupt();
        }
    }
}

impl CancelToken {
    pub(super) fn new(deadline: Instant) -> (Self, CancelOnDrop) {
        let state = Arc::<CancelState>::default();
        (Self { deadline, state: Arc::clone(&state) }, CancelOnDrop(state))
    }

    /// Whether the query should stop.
    pub(super) fn is_over(&self) -> bool {
        self.state.is_cancelled.load(Ordering::Relaxed) || self.is_late()
    }

    /// Whether the deadline has passed.
    pub(super) fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }
}

/// The state of a pool's thread.
pub(super) struct Reader {
    /// Open databases; the most recently used one is last.
    open: Vec<Open>,
    /// The cancel token of the current request.
    cancel: Arc<Mutex<Option<CancelToken>>>,
    options: PoolOptions,
}

/// An open database.
struct Open {
    served: Arc<ServedDatabase>,
    file: FileId,
    database: Database,
}

type Job = (CancelToken, Box<dyn FnOnce(&mut Reader) + Send>);

pub(super) struct Pool {
    pub(super) name: &'static str,
    /// `None` once the pool is stopping.
    sender: Mutex<Option<Sender<Job>>>,
    threads: Vec<JoinHandle<()>>,
    refused: AtomicU64,
}

impl Pool {
    pub(super) fn start(options: PoolOptions) -> Result<Self, Error> {
        let PoolOptions { name, threads, waiting, .. } = options;
        let (sender, receiver) = bounded(waiting);
        let mut started = Vec::new();
        for number in 0..threads {
            let receiver = receiver.clone();
            let thread = thread::Builder::new().name(format!("{name}-{number}"));
            started.push(thread.spawn(move || work(&receiver, options)).map_err(Error::Thread)?);
        }
        Ok(Self { name, sender: Mutex::new(Some(sender)), threads: started, refused: AtomicU64::new(0) })
    }

    /// Queues a job for the next free thread. Fails if the queue is full, the pool is stopping or no thread is
    /// left.
    pub(super) fn run(
        &self,
        cancel: CancelToken,
        work: impl FnOnce(&mut Reader) + Send + 'static,
    ) -> Result<(), Problem> {
        let job: Job = (cancel, Box::new(work));
        lock(&self.sender).as_ref().ok_or_else(Problem::ending)?.try_send(job).map_err(|error| match error {
            channel::Error::Timeout => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                Problem::busy()
            }
            // No thread is left.
            channel::Error::Closed => Problem::internal(),
        })
    }

    /// Accepts no more jobs. Waits until the queued jobs are done and all threads have ended, or until the
    /// time `until`. Returns whether all threads have ended.
    pub(super) fn end(&self, until: Instant) -> bool {
        *lock(&self.sender) = None;
        while self.threads.iter().any(|thread| !thread.is_finished()) {
            if Instant::now() >= until {
                return false;
            }
            thread::sleep(Duration::from_millis(2));
        }
        true
    }

    /// The number of queued requests.
    pub(super) fn waiting(&self) -> usize {
        lock(&self.sender).as_ref().map_or(0, Sender::len)
    }

    /// The number of requests refused because the queue was full.
    pub(super) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

fn work(receiver: &Receiver<Job>, options: PoolOptions) {
    lower_priority(options.nice);
    let mut reader = Reader::new(options);
    for (cancel, work) in receiver.iter() {
        // Skip a request whose client has disconnected, or whose deadline has passed.
        if cancel.is_over() {
            continue;
        }
        reader.set(Some(cancel));
        let done = catch_unwind(AssertUnwindSafe(|| work(&mut reader)));
        reader.set(None);
        if done.is_err() {
            reader = Reader::new(options);
        }
    }
}

/// Lowers the priority of this thread. Otherwise, when long queries keep all processors busy, a quick query
/// would wait until the system suspends one of their threads.
fn lower_priority(nice: u8) {
    // On systems other than Linux, the call would affect the whole process. Failure is harmless: only speed
    // is affected.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, nice.into());
    #[cfg(not(target_os = "linux"))]
    let _ = nice;
}

impl Reader {
    fn new(options: PoolOptions) -> Self {
        Self { open: Vec::new(), cancel: Arc::default(), options }
    }

    /// Sets the cancel token of the current request, or clears it.
    fn set(&self, cancel: Option<CancelToken>) {
        if let Some(last) = std::mem::replace(&mut *lock(&self.cancel), cancel) {
            *lock(&last.state.running) = None;
        }
    }

    /// Returns a connection to a database whose current file is `file`. Opens the file unless this thread
    /// already has it open. Queries on the connection stop when the client of the current request disconnects
    /// or the request's deadline passes.
    pub(super) fn database(
        &mut self,
        served: &Arc<ServedDatabase>,
        file: FileId,
    ) -> Result<&Database, Problem> {
        let is_it = |open: &Open| Arc::ptr_eq(&open.served, served);
        let known = self.open.iter().position(is_it).map(|at| self.open.remove(at));
        let open = match known.filter(|open| open.file == file) {
            Some(open) => open,
            None => {
                if self.open.len() >= self.options.open {
                    self.open.remove(0);
                }
                Open { served: Arc::clone(served), file, database: self.open_database(served)? }
            }
        };
        self.open.push(open);
        let database = &self.open.last().expect("the database was just added").database;
        if let Some(cancel) = &*lock(&self.cancel) {
            *lock(&cancel.state.running) = Some(database.interrupt_handle());
        }
        Ok(database)
    }

    fn open_database(&self, served: &ServedDatabase) -> Result<Database, Problem> {
        let unusable = |error| served.unusable(&error);
        let database = Database::open_read_only(&served.path).map_err(unusable)?;
        database.keep_ready(STATEMENTS, self.options.page_bytes).map_err(unusable)?;
        (self.options.prepare)(&database).map_err(unusable)?;
        let cancel = Arc::clone(&self.cancel);
        let stop = Stop::new(move || lock(&cancel).as_ref().is_some_and(CancelToken::is_over));
        database.stop_when(&stop).map_err(unusable)?;
        Ok(database)
    }
}
