//! The HTTP server: the explorer API for Lichess clients, pgndex's own API below `/api`, and a web page.
//!
//! ```text
//! connection ──► wire (limits, hosts, origins, token) ──► route ──► pool ──► query ──► answer
//! ```
//!
//! One thread reads and writes HTTP. A few pools of other threads run the queries. Each of these threads has
//! its own connections to some of the databases, and each pool has a short queue of waiting requests. A query
//! stops when its timeout has passed or the client disconnects. The server never changes the data of a
//! database. It only switches the file to write-ahead logging, so that other programs can write while the
//! server reads.
//!
//! | module | contents |
//! |---|---|
//! | [`Options`] | what to serve, to whom, and the limits |
//! | `databases` | the databases, and detection of changes |
//! | `pool` | the threads that run queries |
//! | `request` | parameters of requests |
//! | `answer` | answers and errors |
//! | `route` | a route: a path, its parameters and its handler |
//! | `explorer`, `api` | the handlers; `api` lists all routes, from which the router and the API description are built |
//! | `openapi` | a test that makes the description of the API from the routes, and compares it with `openapi.json` |
//! | `page` | the files of the web page |
//! | `wire` | connections, access control, the log, metrics |

mod answer;
mod api;
mod databases;
mod explorer;
#[cfg(test)]
mod openapi;
mod options;
mod page;
mod pool;
mod request;
mod route;
mod wire;

pub use options::{Error, LogFormat, Options};
pub use wire::{Server, Stopper};
