//! Files in the repository that tests generate: pages and schemas.

use std::path::Path;

/// Whether to write the files instead of comparing them.
pub(crate) fn update() -> bool {
    std::env::var_os("UPDATE_README").is_some()
}

/// Compares a generated text with the file at a path, relative to the repository. With `UPDATE_README=1`, writes the
/// file instead.
pub(crate) fn compare_with_file(made: &str, path: &str) {
    let whole = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if update() {
        std::fs::write(whole, made).expect("a file");
    } else {
        let kept = std::fs::read_to_string(whole).expect("a file");
        assert!(
            kept == made,
            "{path} is out of date: run UPDATE_README=1 cargo test to write it, and check the change"
        );
    }
}
