//! The server from the view of clients and attackers.

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
