//! Tests of which the quick part stands for a much longer one, which `--ignored` runs: what ends a run, bytes and text of any
//! kind, and anything in the cells of a database.

mod crash;
mod fuzz;
mod hostile_cells;
#[path = "../common/needs.rs"]
mod needs;
#[path = "../common/program.rs"]
mod program;
mod robust;
#[allow(dead_code)]
#[path = "../index/support.rs"]
mod support;
