//! Parquet files: written, read by engines, and what the documentation says of them. The default build has none of this:
//! `cargo test --features parquet --test parquet`.

#[allow(dead_code, reason = "each test program uses a part of it")]
#[path = "../common/command.rs"]
mod command;
mod engines;
mod files;
#[allow(dead_code, reason = "each test program uses a part of it")]
#[path = "../common/games.rs"]
mod games;
#[allow(dead_code, reason = "each test program uses a part of it")]
#[path = "../common/made_file.rs"]
mod made_file;
#[cfg(target_os = "linux")]
mod messages;
#[path = "../common/needs.rs"]
mod needs;
mod page;
#[path = "../common/pages.rs"]
mod pages;
#[allow(dead_code, reason = "each test program uses a part of it")]
#[path = "../common/place.rs"]
mod place;
#[cfg(target_os = "linux")]
#[path = "../common/schema.rs"]
mod schema;
mod spark;
#[allow(dead_code, reason = "each test program uses a part of it")]
#[path = "../common/support.rs"]
mod support;
