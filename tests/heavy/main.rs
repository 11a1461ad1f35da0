//! Tests of which the quick part stands for a much longer one, which `--ignored` runs: what ends a run, bytes and text of any
//! kind, and anything in the cells of a database.

#[path = "../common/command.rs"]
mod command;
mod crash;
mod fuzz;
mod hostile_cells;
#[path = "../common/needs.rs"]
mod needs;
mod robust;
#[allow(dead_code)]
#[path = "../common/support.rs"]
mod support;
