//! The threads that put questions to databases, with a short queue before them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

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
    /// How far its threads stand back where there is work for more threads than processors: the nice value, from 0 up to 19.
    pub(super) nice: u8,
    /// How many bytes of pages a connection keeps.
    pub(super) page_bytes: u64,
    /// What is done with a connection when it is opened.
    pub(super) prepare: fn(&Database) -> store::Result<()>,
}

/// How long a question may take, and whether anybody still waits for the answer.
#[derive(Clone, Debug)]
pub(super) struct Ticket {
    pub(super) deadline: Instant,
    gone: Arc<AtomicBool>,
}

/// Lives as long as somebody waits for an answer.
pub(super) struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Ticket {
    pub(super) fn new(deadline: Instant) -> (Self, Waiting) {
        let gone = Arc::new(AtomicBool::new(false));
        (Self { deadline, gone: Arc::clone(&gone) }, Waiting(gone))
    }

    /// Whether the question is to end.
    pub(super) fn is_over(&self) -> bool {
        self.gone.load(Ordering::Relaxed) || self.is_late()
    }

    /// Whether its time is over.
    pub(super) fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }
}

/// What a thread of a pool has.
pub(super) struct Reader {
    databases: Arc<Databases>,
    open: Vec<Option<(FileId, Database)>>,
    /// Of the question that is put now.
    ticket: Arc<Mutex<Option<Ticket>>>,
    nature: Nature,
}

type Work = Box<dyn FnOnce(&mut Reader) + Send>;

struct Job {
    ticket: Ticket,
    work: Work,
}

/// Some threads and their queue.
pub(super) struct Pool {
    name: &'static str,
    sender: Sender<Job>,
    refused: AtomicU64,
}

impl Pool {
    /// Starts the threads.
    pub(super) fn start(nature: Nature, databases: &Arc<Databases>) -> Result<Self, Error> {
        let Nature { name, threads, waiting, .. } = nature;
        let (sender, receiver) = bounded(waiting);
        for number in 0..threads {
            let (receiver, databases) = (receiver.clone(), Arc::clone(databases));
            thread::Builder::new()
                .name(format!("{name}-{number}"))
                .spawn(move || work(&receiver, &databases, nature))
                .map_err(Error::Thread)?;
        }
        Ok(Self { name, sender, refused: AtomicU64::new(0) })
    }

    /// Hands work to the next thread that is free.
    pub(super) fn run(
        &self,
        ticket: Ticket,
        work: impl FnOnce(&mut Reader) + Send + 'static,
    ) -> Result<(), Problem> {
        let job = Job { ticket, work: Box::new(work) };
        self.sender.try_send(job).map_err(|error| {
            self.refused.fetch_add(1, Ordering::Relaxed);
            match error {
                TrySendError::Full(_) => Problem::busy(),
                TrySendError::Disconnected(_) => Problem::internal(),
            }
        })
    }

    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    /// Questions that wait now.
    pub(super) fn waiting(&self) -> usize {
        self.sender.len()
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
            open: (0..databases.len()).map(|_| None).collect(),
            ticket: Arc::new(Mutex::new(None)),
            nature,
        }
    }

    fn set(&self, ticket: Option<Ticket>) {
        *self.ticket.lock().unwrap_or_else(PoisonError::into_inner) = ticket;
    }

    /// A database as it is now: one that has been replaced is opened anew. What runs on it ends with the ticket.
    pub(super) fn database(&mut self, index: DatabaseIndex, file: FileId) -> Result<&Database, Problem> {
        let place = &mut self.open[index.0];
        if place.as_ref().is_some_and(|(open, _)| *open != file) {
            *place = None;
        }
        if place.is_none() {
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
            *place = Some((file, database));
        }
        match place {
            Some((_, database)) => Ok(database),
            None => Err(Problem::internal()),
        }
    }
}
