//! Whatever ends a run, at whatever moment: the database opens and is sound, as it was before the run or as it is after it, and
//! the same command completes the work as if nothing had happened.
//!
//! | file | what ends or disturbs the run |
//! |---|---|
//! | `killed` | SIGKILL from outside, at moments spread over the whole run |
//! | `disk` | death at a certain change to a file, with or without loss of what was not synced, and a full disk |
//! | `refused` | limits, a full disk, and what may not be written |
//! | `stopped` | SIGINT and SIGTERM |
//! | `held` | the same, while a certain change waits: of a copy, and of an addition by `watch` |
//! | `sharing` | others that read or write the same database |

#![cfg(unix)]

mod disk;
mod killed;
#[cfg(target_os = "linux")]
mod paused;
mod refused;
mod scenario;
mod sharing;
mod stopped;
