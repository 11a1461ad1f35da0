//! The threads that put questions to databases, with a short queue before them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use rusqlite::InterruptHandle;

use crate::server::answer::Problem;
use crate::server::databases::{DatabaseIndex, Databases};
use crate::server::error::Error;
use crate::store::{self, Database, FileId, Stop};

/// How many statements a connection keeps ready: those of all questions, with some filters.
const STATEMENTS: usize = 128;

/// What a pool is like.
#[derive(Clone, Copy)]
pub(super) struct Nature {
    pub(super) name: &'static str,
    pub(super) threads: usize,
    /// How many questions may wait for a thread.
    pub(super) waiting: usize,
    /// How many databases a thread keeps open at the same time.
    pub(super) open: usize,
    /// How far its threads stand back where there is work for more threads than processors: the nice value, from 0 up to 19.
    pub(super) nice: u8,
    /// How many bytes of pages a connection keeps.
    pub(super) page_bytes: u64,
    /// What is done with a connection when it is opened.
    pub(super) prepare: fn(&Database) -> store::Result<()>,
}

/// How long a question may take, and whether anybody still waits for the answer.
#[derive(Clone)]
pub(super) struct Ticket {
    pub(super) deadline: Instant,
    state: Arc<TicketState>,
}

#[derive(Default)]
struct TicketState {
    is_gone: AtomicBool,
    /// Of the connection on which the question runs, while it does.
    running: Mutex<Option<InterruptHandle>>,
}

impl TicketState {
    fn running(&self) -> MutexGuard<'_, Option<InterruptHandle>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lives as long as somebody waits for an answer. After that, what runs for it is interrupted.
pub(super) struct Waiting(Arc<TicketState>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.is_gone.store(true, Ordering::Relaxed);
        // The connection's own look at the time is not enough: SQLite counts rows without it, and makes a thousand steps between two
        // looks, of which each can be a slow function.
        if let Some(connection) = &*self.0.running() {
            connection.interrupt();
        }
    }
}

impl Ticket {
    pub(super) fn new(deadline: Instant) -> (Self, Waiting) {
        let state = Arc::<TicketState>::default();
        (Self { deadline, state: Arc::clone(&state) }, Waiting(state))
    }

    /// Whether the question is to end.
    pub(super) fn is_over(&self) -> bool {
        self.state.is_gone.load(Ordering::Relaxed) || self.is_late()
    }

    /// Whether its time is over.
    pub(super) fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }
}

/// What a thread of a pool has.
pub(super) struct Reader {
    databases: Arc<Databases>,
    /// The one that was used last is at the end.
    open: Vec<Open>,
    /// Of the question that is put now.
    ticket: Arc<Mutex<Option<Ticket>>>,
    nature: Nature,
}

/// An open database.
struct Open {
    index: DatabaseIndex,
    file: FileId,
    database: Database,
}

type Work = Box<dyn FnOnce(&mut Reader) + Send>;

struct Job {
    ticket: Ticket,
    work: Work,
}

/// Some threads and their queue.
pub(super) struct Pool {
    name: &'static str,
    /// None when it is to end.
    sender: Mutex<Option<Sender<Job>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    refused: AtomicU64,
}

impl Pool {
    /// Starts the threads.
    pub(super) fn start(nature: Nature, databases: &Arc<Databases>) -> Result<Self, Error> {
        let Nature { name, threads, waiting, .. } = nature;
        let (sender, receiver) = bounded(waiting);
        let mut running = Vec::new();
        for number in 0..threads {
            let (receiver, databases) = (receiver.clone(), Arc::clone(databases));
            let thread = thread::Builder::new().name(format!("{name}-{number}"));
            running.push(thread.spawn(move || work(&receiver, &databases, nature)).map_err(Error::Thread)?);
        }
        let (sender, threads) = (Mutex::new(Some(sender)), Mutex::new(running));
        Ok(Self { name, sender, threads, refused: AtomicU64::new(0) })
    }

    /// Hands work to the next thread that is free.
    pub(super) fn run(
        &self,
        ticket: Ticket,
        work: impl FnOnce(&mut Reader) + Send + 'static,
    ) -> Result<(), Problem> {
        let job = Job { ticket, work: Box::new(work) };
        self.sender().as_ref().ok_or_else(Problem::ending)?.try_send(job).map_err(|error| {
            self.refused.fetch_add(1, Ordering::Relaxed);
            match error {
                TrySendError::Full(_) => Problem::busy(),
                TrySendError::Disconnected(_) => Problem::internal(),
            }
        })
    }

    fn sender(&self) -> MutexGuard<'_, Option<Sender<Job>>> {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the threads end; says whether they have until a time.
    pub(super) fn end(&self, until: Instant) -> bool {
        *self.sender() = None;
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        while threads.iter().any(|thread| !thread.is_finished()) {
            if Instant::now() >= until {
                return false;
            }
            thread::sleep(Duration::from_millis(2));
        }
        true
    }

    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    /// Questions that wait now.
    pub(super) fn waiting(&self) -> usize {
        self.sender().as_ref().map_or(0, Sender::len)
    }

    /// Questions that found the queue full.
    pub(super) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

fn work(receiver: &Receiver<Job>, databases: &Arc<Databases>, nature: Nature) {
    stand_back(nature.nice);
    let mut reader = Reader::new(databases, nature);
    for Job { ticket, work } in receiver {
        // Whoever asked has had another answer by now.
        if ticket.is_over() {
            continue;
        }
        reader.set(Some(ticket));
        let done = catch_unwind(AssertUnwindSafe(|| work(&mut reader)));
        reader.set(None);
        if done.is_err() {
            reader = Reader::new(databases, nature);
        }
    }
}

/// Lets other threads go first. Without it two statements that count for a second would make quick answers wait for as long as the system
/// lets a thread go on.
fn stand_back(nice: u8) {
    // Elsewhere this would be said of the whole process. It is a matter of speed alone, so that it may fail.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, nice.into());
    #[cfg(not(target_os = "linux"))]
    let _ = nice;
}

impl Reader {
    fn new(databases: &Arc<Databases>, nature: Nature) -> Self {
        Self {
            databases: Arc::clone(databases),
            open: Vec::new(),
            ticket: Arc::new(Mutex::new(None)),
            nature,
        }
    }

    /// Takes the ticket of the next question, or gives that of the last one back.
    fn set(&self, ticket: Option<Ticket>) {
        let mut place = self.ticket.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = std::mem::replace(&mut *place, ticket) {
            *last.state.running() = None;
        }
    }

    /// A database as it is now: one that has been replaced is opened again. What runs on it ends with the ticket.
    pub(super) fn database(&mut self, index: DatabaseIndex, file: FileId) -> Result<&Database, Problem> {
        let is_it = |open: &Open| open.index == index;
        let known = self.open.iter().position(is_it).map(|at| self.open.remove(at));
        let open = match known.filter(|open| open.file == file) {
            Some(open) => open,
            None => {
                if self.open.len() >= self.nature.open {
                    self.open.remove(0);
                }
                Open { index, file, database: self.open_database(index)? }
            }
        };
        self.open.push(open);
        let Some(Open { database, .. }) = self.open.last() else { return Err(Problem::internal()) };
        if let Some(ticket) = &*self.ticket.lock().unwrap_or_else(PoisonError::into_inner) {
            *ticket.state.running() = Some(database.interrupt_handle());
        }
        Ok(database)
    }

    fn open_database(&self, index: DatabaseIndex) -> Result<Database, Problem> {
        let served = self.databases.get(index);
        let unusable = |error| served.unusable(&error);
        let database = Database::open_read_only(&served.path).map_err(unusable)?;
        database.keep_ready(STATEMENTS, self.nature.page_bytes).map_err(unusable)?;
        (self.nature.prepare)(&database).map_err(unusable)?;
        let ticket = Arc::clone(&self.ticket);
        let stop = Stop::new(move || {
            let ticket = ticket.lock().unwrap_or_else(PoisonError::into_inner);
            ticket.as_ref().is_some_and(Ticket::is_over)
        });
        database.stop_when(&stop).map_err(unusable)?;
        Ok(database)
    }
}
