//! The page in a browser.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::needs::{has_program, python_that_runs};
use crate::server::serving::Serving;

#[test]
#[ignore = "takes a minute"]
fn the_page_is_used_in_a_browser() {
    look_at_page("use");
}

#[test]
#[ignore = "takes a minute"]
fn the_page_is_checked_in_a_browser() {
    look_at_page("look");
}

#[test]
#[ignore = "takes minutes"]
fn the_page_is_checked_at_every_width() {
    look_at_page("look-at-every-width");
}

fn look_at_page(part: &str) {
    let Some(python) = python_that_runs("import axe_playwright_python, playwright") else { return };
    if !has_program("chromium") {
        return;
    }
    let server = Serving::famous(&[]);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a directory of builds");
    let pictures = target.join("page-screenshots");
    let status = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/page.py"))
        .arg(format!("http://{}", server.address))
        .arg(&pictures)
        .arg(part)
        .stderr(Stdio::inherit())
        .status()
        .expect("the script runs");
    println!("pictures of the views: {}", pictures.display());
    assert!(status.success(), "the page has faults");
}
