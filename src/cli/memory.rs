//! Ends the process if the system provides no more memory, or cannot start another thread. Before that, takes
//! two last steps: removes temporary files and prints an error message. By default, the process would abort
//! or panic, and leave the files.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::cli::terminal::{Event, Level, log};

/// The system's allocator, which in addition ends the process if there is no more memory.
pub(crate) struct Allocator;

/// Memory that is freed before the last steps of the process, so that it is available to them. These steps
/// remove temporary files and print the reason.
static RESERVE: Mutex<Option<Vec<u8>>> = Mutex::new(None);
/// Whether any thread has started the last steps.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether this thread has started the last steps.
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

const NO_MEMORY: &str = "out of memory: the system provides no more memory to this process. Use less memory (--memory, \
                         fewer threads with -j), or raise the limit (ulimit -v, MemoryMax). Unfinished work \
                         was rolled back";
const NO_THREAD: &str = "the system cannot start another thread for this process, or has no memory for it. Use \
                         fewer threads (-j), or raise the limit (ulimit -u, ulimit -v, TasksMax). Unfinished \
                         work was rolled back";

/// Reserves memory for the last steps of the process. Sets a panic hook that takes these steps if a thread
/// cannot be started.
pub(crate) fn allocate_reserve() {
    // If a thread cannot be started, the functions `spawn` of the standard library panic with a message that
    // begins with "failed to spawn thread".
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.payload_as_str().is_some_and(|text| text.starts_with("failed to spawn thread")) {
            end(NO_THREAD);
        }
        hook(panic);
    }));
    const BYTES: usize = 1 << 20;
    if let Ok(mut reserve) = RESERVE.lock() {
        *reserve = Some(Vec::with_capacity(BYTES));
    }
}

// SAFETY: all calls go to the system's allocator with unchanged arguments; if it returns null, the process
// ends.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller fulfils the contract of `alloc`, which is also that of the system's allocator.
        checked(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller fulfils the contract of `alloc_zeroed`.
        checked(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller fulfils the contract of `dealloc`; the block comes from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller fulfils the contract of `realloc`; the block comes from the system's allocator.
        checked(unsafe { System.realloc(pointer, layout, size) })
    }
}

fn checked(pointer: *mut u8) -> *mut u8 {
    if pointer.is_null() { end(NO_MEMORY) } else { pointer }
}

/// Removes temporary files, prints the reason, and ends the process with status 1.
#[cold]
fn end(message: &str) -> ! {
    const STATUS: u8 = 1;
    // If this is not the first call, the last steps have already been started. If another thread started
    // them, this thread waits for the exit. If this thread started them, it lacks memory for these steps, so
    // it ends the process without finishing them.
    let is_first = !ENDS.get() && !IS_ENDING.swap(true, Ordering::Relaxed);
    if !is_first && !ENDS.get() {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    if is_first {
        ENDS.set(true);
        drop(RESERVE.try_lock().ok().and_then(|mut reserve| reserve.take()));
        pgndex::store::remove_temporary_files();
        let text = format!("pgndex: error: {message}");
        let event = Event::Failed { causes: Vec::new(), exit_status: STATUS };
        let line = log::text(Level::Error, &text, message, event) + "\n";
        // Not written through the standard library: another thread can hold the lock of standard error while it
        // sleeps in the loop above.
        // SAFETY: pointer and length are those of `line`, which is alive.
        let _ = unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
    }
    // SAFETY: `_exit` takes only a number, and ends the process immediately.
    unsafe { libc::_exit(STATUS.into()) }
}
