//! A thread that writes pages while others fill the next ones.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use super::buffer::AlignedBuffer;
use super::file::PageStore;
use super::{BtreeError, PageRun};

/// Full pages on their way into the file.
#[derive(Debug)]
pub(super) struct FullPages {
    pub(super) buffer: AlignedBuffer,
    /// Where the pages go, from the buffer's start on.
    pub(super) runs: Vec<PageRun>,
    /// Where the buffer goes back to.
    pub(super) back: Sender<AlignedBuffer>,
}

enum Order {
    Write(FullPages),
    /// Tell when all that was ordered before is written.
    Settle(Sender<Result<(), BtreeError>>),
}

/// The way to the thread. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct PageWriter {
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
    failed: Arc<AtomicBool>,
}

impl PageWriter {
    pub(super) fn start(store: Arc<PageStore>) -> io::Result<Self> {
        let (orders, queue) = unbounded();
        let failed = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&failed);
        let thread = std::thread::Builder::new()
            .name("page-writer".to_owned())
            .spawn(move || work(&store, &queue, &flag))?;
        Ok(Self { orders: Some(orders), thread: Some(thread), failed })
    }

    /// Orders pages to be written. Whoever orders has few buffers, so the queue stays short.
    ///
    /// # Errors
    /// When an earlier write failed.
    pub(super) fn write(&self, pages: FullPages) -> Result<(), BtreeError> {
        if self.failed.load(Ordering::Relaxed) {
            return self.settle();
        }
        self.send(Order::Write(pages));
        Ok(())
    }

    /// Waits until all is written.
    ///
    /// # Errors
    /// When a write failed.
    pub(super) fn settle(&self) -> Result<(), BtreeError> {
        let (reply, answer) = bounded(1);
        self.send(Order::Settle(reply));
        answer.recv().expect("the thread lives as long as this")
    }

    fn send(&self, order: Order) {
        let orders = self.orders.as_ref().expect("only dropped at the end");
        orders.send(order).expect("the thread lives as long as this");
    }
}

impl Drop for PageWriter {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn work(store: &PageStore, queue: &Receiver<Order>, failed: &AtomicBool) {
    // After a failure nothing more is written; the error is told as often as somebody asks.
    let mut failure: Option<Failure> = None;
    for order in queue {
        match order {
            Order::Write(FullPages { buffer, runs, back }) => {
                let mut rest = &*buffer;
                for run in runs.into_iter().filter(|_| failure.is_none()) {
                    let (now, later) = rest.split_at(run.count as usize * store.page_size().bytes());
                    rest = later;
                    if let Err(error) = store.write_pages(run.first, now) {
                        failure = Some(Failure::of(&error));
                        failed.store(true, Ordering::Relaxed);
                        break;
                    }
                }
                // A writer that has ended needs no buffers.
                let _ = back.send(buffer);
            }
            Order::Settle(reply) => {
                let _ = reply.send(failure.as_ref().map_or(Ok(()), |failure| Err(failure.error(store))));
            }
        }
    }
}

/// What is kept of an error, to make it again.
struct Failure {
    code: Option<i32>,
    kind: io::ErrorKind,
}

impl Failure {
    fn of(error: &BtreeError) -> Self {
        match error {
            BtreeError::Io { source, .. } => Self { code: source.raw_os_error(), kind: source.kind() },
            _ => Self { code: None, kind: io::ErrorKind::Other },
        }
    }

    fn error(&self, store: &PageStore) -> BtreeError {
        store.io_error(
            "write pages of",
            self.code.map_or_else(|| self.kind.into(), io::Error::from_raw_os_error),
        )
    }
}
