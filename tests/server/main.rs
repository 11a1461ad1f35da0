//! The server, as clients and attackers see it.

#![cfg(feature = "serve")]

mod additions;
mod answers;
mod attacks;
mod changes;
mod clients;
mod crowds;
mod explorer;
#[path = "../common/needs.rs"]
mod needs;
mod page;
#[allow(dead_code, reason = "each test program uses a part of it")]
#[path = "../common/program.rs"]
mod program;
mod proxy;
mod service;
mod serving;
