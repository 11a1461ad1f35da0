//! Messages of the commands that write and check Parquet files.

use std::fs;
use std::io::Write as _;
use std::process::Command;

use crate::command::Run;
use crate::schema::Schema;
use crate::support::Mount;
use crate::workspace::Workspace;

const FAMOUS: &str = include_str!("../../examples/famous-games.pgn");

#[test]
fn verify_checks_parquet_files_or_a_database_but_not_both() {
    let workspace = Workspace::in_memory().indexed(FAMOUS);
    assert_eq!(
        workspace.run(&["export", "games.db", "--partition-by", "none", "--parquet", "tables"]).status,
        0
    );
    let mut checked = workspace.command(&["verify", "--parquet", "tables"]);
    let checked = Run::of(checked.env("PGNDEX_DB", "games.db").output().expect("the program runs"));
    assert_eq!(checked.status, 0, "{checked:?}");
    let both = workspace.run(&["verify", "games.db", "--parquet", "tables"]);
    assert_eq!(both.status, 2, "{both:?}");
    assert_eq!(
        both.stderr,
        "pgndex: error: a database and --parquet were given; check one after the other\n"
    );
}

#[test]
fn log_lines_match_the_schema() {
    let workspace = Workspace::in_memory().with("games.pgn", FAMOUS);
    let schema = Schema::parse(include_str!("../../docs/log.schema.json"));
    for arguments in [
        &["index", "--partition-by", "none", "--parquet", "tables", "games.pgn"][..],
        &["verify", "--parquet", "tables"],
    ] {
        let run = workspace.run(&[arguments, &["--log-format", "json"]].concat());
        assert_eq!(run.status, 0, "{run:?}");
        let lines = run.stderr.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        let lines: Vec<serde_json::Value> = lines.collect();
        assert_eq!(lines.last().expect("a line")["event"], "done", "{run:?}");
        lines.iter().for_each(|line| assert_eq!(schema.check(line), Ok(()), "{line}"));
    }
}

#[test]
fn a_limit_of_file_size_is_an_error_that_names_the_directory() {
    let workspace = Workspace::in_memory().indexed(FAMOUS);
    let mut command = Command::new("bash");
    command.current_dir(workspace.directory()).env("PGNDEX", env!("CARGO_BIN_EXE_pgndex"));
    let run = Run::of(
        command
            .args(["-c", "ulimit -f 1; \"$PGNDEX\" export games.db --parquet tables"])
            .output()
            .expect("bash runs"),
    );
    let expected = "tables: a file of this size is not allowed here (about ";
    assert!(run.status == 1 && run.stderr.contains(expected), "{run:?}");
}

#[test]
fn a_full_disk_is_reported_with_the_free_space() {
    let workspace = Workspace::in_memory().indexed(FAMOUS);
    let Some(disk) = Mount::new(workspace.path("disk"), "24m") else { return };
    let mut fill = fs::File::create(disk.0.join("fill")).expect("a file");
    while fill.write_all(&[0; 4096]).is_ok() {}
    for work in ["index --parquet disk/tables games.pgn", "export --parquet disk/tables games.db"] {
        let run = workspace.run(&work.split(' ').collect::<Vec<_>>());
        assert!(run.status == 1 && run.stderr.contains("no space left"), "{work}: {run:?}");
        assert!(run.stderr.contains("B is free in disk/tables"), "{work}: {run:?}");
    }
}

/// The manifest, which lists the files, is written last. Until then, the existing files stay.
#[test]
fn parquet_files_are_replaced_only_when_all_are_written() {
    let workspace = Workspace::in_memory().indexed(FAMOUS);
    let Some(disk) = Mount::new(workspace.path("disk"), "24m") else { return };
    let free = || pgndex::store::free_bytes(&disk.0).expect("a file system");
    let export = |directory: &str| {
        workspace.run(&[
            "export",
            "games.db",
            "--partition-by",
            "none",
            "--overwrite",
            "--parquet",
            directory,
        ])
    };
    let before = free();
    assert_eq!(export("disk/tables").status, 0);
    let taken = before - free();
    // The missing space is less than the manifest needs.
    let missing = 20 << 10;
    assert!(fs::metadata(disk.0.join("tables/_manifest-00000.json")).expect("a manifest").len() > missing);
    let fill = usize::try_from(free() + missing - taken).expect("a size");
    fs::write(disk.0.join("fill"), vec![0; fill]).expect("written");
    let left = free();
    for directory in ["disk/other", "disk/tables"] {
        let run = export(directory);
        assert!(run.status == 1 && run.stderr.contains("no space left"), "{directory}: {run:?}");
        assert!(run.stderr.contains(" is free in "), "{directory}: {}", run.stderr);
        assert_eq!(free(), left, "{directory}");
    }
    assert!(!disk.0.join("other").exists());
    assert_eq!(workspace.run(&["verify", "--quiet", "--parquet", "disk/tables"]).status, 0);
}
