//! Property tests try the same cases in every run, unless the environment selects others.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use crate::properties::cases;

fn values() -> Vec<u64> {
    let mut runner = TestRunner::new(cases(20));
    (0..20).map(|_| any::<u64>().new_tree(&mut runner).expect("any number").current()).collect()
}

#[test]
fn the_cases_are_the_same_in_every_run() {
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        assert_eq!(values()[..2], [6_900_696_269_883_318_194, 14_088_846_283_695_160_600]);
    }
    assert_eq!(values(), values());
}

/// All Rust files below a directory.
fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory of the project") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The beginning of a block of property tests, composed so that it is not found in this file.
const BLOCK: &str = concat!("proptest", "! {");

#[test]
fn all_property_tests_use_fixed_cases() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for directory in ["src", "tests", "benches", "extension", "fuzz"] {
        sources(&root.join(directory), &mut paths);
    }
    let mut blocks = 0;
    for path in paths {
        let text = fs::read_to_string(&path).expect("text");
        for (at, _) in text.match_indices(BLOCK) {
            let rest = text[at + BLOCK.len()..].trim_start();
            assert!(rest.starts_with("#![proptest_config(cases("), "{}: {rest:.60}", path.display());
            blocks += 1;
        }
        let others = ["TestRunner::default", "TestRunner::new(Config", "TestRunner::deterministic"];
        let is_this = path.ends_with("tests/rules/cases.rs");
        assert!(is_this || others.iter().all(|other| !text.contains(other)), "{}", path.display());
    }
    assert!(blocks >= 16, "{blocks}");
}
