//! A run can be interrupted at any moment: the database opens and is sound, in the state before the run or after it,
//! and running the same command again completes the work.
//!
//! | file | what ends or disturbs the run |
//! |---|---|
//! | `killed` | SIGKILL from outside, at moments spread over the whole run |
//! | `disk` | at a certain change to a file: a kill, a power failure that loses unsynced writes, or a full disk |
//! | `refused` | limits on the file size, a full disk, missing permissions |
//! | `stopped` | SIGINT and SIGTERM |
//! | `paused` | while a change to a file is paused: both signals to `backup`, SIGTERM to `watch` during an addition |

#![cfg(unix)]

mod disk;
mod killed;
#[cfg(target_os = "linux")]
mod paused;
mod refused;
mod scenario;
mod sharing;
mod stopped;
