//! The `pgndex` command.

fn main() {}
