//! The directory of SQLite's temporary files. It is a setting of the whole process, so the test runs in a separate
//! process.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use pgndex::store::{Build, BuildOptions, Database};

#[test]
fn large_sorts_use_the_directory_of_the_database() {
    const NAME: &str = "store::temporary_files::large_sorts_use_the_directory_of_the_database";
    const ALONE: &str = "PGNDEX_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let mut alone = Command::new(std::env::current_exe().expect("the test program"));
        let output = alone.args(["--exact", NAME]).env(ALONE, "1").output().expect("the test runs");
        let reported = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && reported.contains("1 passed"), "{reported}");
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("games.db");
    Build::create(&path, BuildOptions::default()).and_then(Build::finish).expect("built");
    let database = Database::open_read_only(&path).expect("opened");
    let connection = database.connection();
    connection.pragma_update(None, "cache_size", 10).expect("a small cache");
    let sql = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 200000)
               SELECT n FROM n ORDER BY randomblob(20)";
    let mut query = connection.prepare(sql).expect("a query");
    let mut rows = query.query([]).expect("rows");
    assert!(rows.next().expect("sorted").is_some());
    let open = fs::read_dir("/proc/self/fd").expect("open files").flatten();
    let files: Vec<PathBuf> = open.filter_map(|entry| fs::read_link(entry.path()).ok()).collect();
    let here = directory.path().canonicalize().expect("a directory");
    let is_sort = |file: &&PathBuf| file.to_string_lossy().contains("etilqs");
    let sorts: Vec<_> = files.iter().filter(is_sort).map(|file| file.parent()).collect();
    assert!(sorts.contains(&Some(here.as_path())), "{files:?}");
    drop(rows);
    assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 1);
}
