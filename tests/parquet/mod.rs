//! Parquet files: written, read by engines, and what the documentation says of them. The default build has none of this.

mod engines;
mod files;
#[cfg(target_os = "linux")]
mod messages;
mod page;
mod spark;
