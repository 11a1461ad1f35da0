//! A run can be interrupted at any moment: the database opens and is sound, in the state before the run or after it,
//! and running the same command again completes the work.
//!
//! | file | what ends or disturbs the run |
//! |---|---|
//! | `killed` | SIGKILL from outside, at moments spread over the whole run |
//! | `disk` | death at a certain change to a file, with or without loss of what was not synced, and a full disk |
//! | `refused` | limits, a full disk, and what may not be written |
//! | `stopped` | SIGINT and SIGTERM |
//! | `paused` | the same signals, while a certain change waits: of `backup`, and of an addition by `watch` |

#![cfg(unix)]

mod disk;
mod killed;
#[cfg(target_os = "linux")]
mod paused;
mod refused;
mod scenario;
mod sharing;
mod stopped;
