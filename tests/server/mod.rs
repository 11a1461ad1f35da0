//! The server, as clients and attackers see it.

mod additions;
mod answers;
mod attacks;
mod changes;
mod clients;
mod connection_limits;
mod explorer;
mod limits;
mod page;
mod proxy;
mod service;
mod serving;
