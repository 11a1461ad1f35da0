//! Tests with a quick version and a much longer one, which `--ignored` runs: interrupted runs, arbitrary bytes and
//! text, and arbitrary values in the cells of a database.

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
