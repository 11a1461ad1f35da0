//! Parquet files: writing them, reading them with other engines, and the pages about them. The default build has none
//! of this.

mod engines;
mod files;
#[cfg(target_os = "linux")]
mod messages;
mod page;
mod spark;
