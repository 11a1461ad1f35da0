//! A widely used client library.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::needs::python_with;
use crate::server::serving::Serving;

#[test]
fn berserk_reads_the_explorer() {
    let Some(python) = python_with("berserk") else { return };
    let server = Serving::famous(&[]);
    let status = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/clients.py"))
        .arg(format!("http://{}", server.address))
        .stderr(Stdio::inherit())
        .status()
        .expect("the script runs");
    assert!(status.success());
}
