//! HTTP on the questions: the explorer API as clients of Lichess know it, our own below `/api`, and a page for the browser.
//!
//! ```text
//! connection ──► wire (limits, hosts, origins, token) ──► route ──► pool ──► question ──► answer
//! ```
//!
//! One thread reads and writes HTTP. A few others run the questions, each with its own connections to some databases; a short queue holds
//! questions that wait for them. A question ends when its time is over or nobody waits for the answer. No row of a database is changed.
//!
//! | module | what lives there |
//! |---|---|
//! | [`Options`] | what to serve, to whom, and the limits |
//! | `databases` | the databases, and whether they have changed |
//! | `pool` | the threads that put questions |
//! | `request` | what is asked, as it stands in an address |
//! | `answer` | what is sent, also if it is an error |
//! | `route` | which address leads to what: the table that the router and the description are made from |
//! | `explorer`, `api` | what is behind these addresses |
//! | `openapi` | the description of the API, which a test makes from the routes and compares with `openapi.json` |
//! | `page` | what the browser gets |
//! | `wire` | connections, who may ask, the log, figures for monitoring |

mod answer;
mod api;
mod databases;
mod error;
mod explorer;
#[cfg(test)]
mod openapi;
mod options;
mod page;
mod pool;
mod request;
mod route;
mod wire;

pub use error::Error;
pub use options::{LogFormat, Options};
pub use wire::{Server, Stopper};
