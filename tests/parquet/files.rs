//! Parquet files have the same rows as a database, however they are written, and no run leaves incomplete files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::needs::{corpus, python_with};
use crate::workspace::{BLUNDER, CLUB, ENDINGS, SHUFFLE, Workspace};

/// All files below a directory, by their relative paths.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(next) = directories.pop() {
        for entry in fs::read_dir(next).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                directories.push(path);
            } else {
                let text = fs::read(&path).expect("a file");
                files.insert(
                    path.strip_prefix(directory).expect("a path below the directory").to_owned(),
                    text,
                );
            }
        }
    }
    files
}

/// Copies a directory recursively.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory") {
        let (from, to) = entry.map(|entry| (entry.path(), to.join(entry.file_name()))).expect("an entry");
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(from, to).expect("copied");
        }
    }
}

/// Compares the files of a directory with a database, row by row.
fn agree(workspace: &Workspace, directory: &str, database: &str) {
    let Some(python) = python_with("duckdb") else { return };
    let status = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parquet/files.py"))
        .args([workspace.path(directory), workspace.path(database)])
        .stdout(Stdio::null())
        .status()
        .expect("the script runs");
    assert!(status.success(), "{directory} and {database} differ");
}

fn example(name: &str) -> String {
    format!("{}/examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Names that need escaping, and set-ups.
fn unusual_games() -> String {
    [CLUB, ENDINGS, SHUFFLE, BLUNDER].concat()
}

#[test]
fn files_have_the_rows_of_a_database_however_they_are_written() {
    let workspace = Workspace::in_memory().with("odd.pgn", unusual_games());
    let [famous, annotated, odd] =
        [example("famous-games.pgn"), example("annotated.pgn"), "odd.pgn".to_owned()];
    let index = ["index", "--quiet", "--continuation-threshold", "2"];
    // With files for each month or year, only a few games are written.
    for (part, inputs) in [
        ("month", &[&*annotated, &odd][..]),
        ("year", &[&annotated, &odd]),
        ("none", &[&famous, &annotated, &odd]),
    ] {
        let [written, exported, database] = ["written", "exported", "db"].map(|end| format!("{part}.{end}"));
        workspace.run(&[&index[..], &[&database], inputs].concat());
        workspace.run(&[&index[..], &["--partition-by", part, "--parquet", &written], inputs].concat());
        // Files by year are compared in a test with real games.
        if part != "year" {
            agree(&workspace, &written, &database);
        }
        workspace.run(&["export", &database, "--partition-by", part, "--parquet", &exported]);
        assert!(files(&workspace.path(&written)) == files(&workspace.path(&exported)), "{part}");
        let sound = workspace.stdout_of(&["verify", "--quiet", "--parquet", &exported, "--all"]);
        assert!(sound.starts_with("sound: "), "{sound}");
    }
}

#[test]
fn neither_threads_nor_memory_change_the_files() {
    let workspace = Workspace::in_memory();
    let input = example("annotated.pgn");
    let write = |directory: &str, options: &[&str]| {
        workspace.run(&[&["index", "--quiet", "--parquet", directory, &input], options].concat());
        files(&workspace.path(directory))
    };
    let one = write("one", &["--threads", "1"]);
    assert!(one == write("small", &["--threads", "3", "--memory", "1M", "--chunk-size", "2K"]));
    assert!(one == write("again", &[]));
}

#[test]
fn changed_files_are_found() {
    let workspace = Workspace::in_memory();
    let input = example("famous-games.pgn");
    workspace.run(&["index", "--quiet", "--partition-by", "none", "--parquet", "whole", &input]);
    let [whole, tables] = ["whole", "tables"].map(|name| workspace.path(name));
    copy(&whole, &tables);
    let part = tables.join("game_position/part-00000-00000.parquet");
    let manifest = tables.join("_manifest-00000.json");
    let found = |expected: &str| {
        let run = workspace.run(&["verify", "--quiet", "--parquet", "tables"]);
        assert_eq!(run.status, 1, "{run:?}");
        assert!(run.stdout.contains(expected), "{expected}: {run:?}");
        let json = workspace.run(&["verify", "--quiet", "--json", "--parquet", "tables"]);
        assert!(json.stdout.contains(r#""sound":false"#), "{json:?}");
        fs::remove_dir_all(&tables).expect("removed");
        copy(&whole, &tables);
    };
    assert_eq!(workspace.run(&["verify", "--quiet", "--parquet", "tables"]).status, 0);
    let mut bytes = fs::read(&part).expect("a file");
    bytes[1000] ^= 1;
    fs::write(&part, &bytes).expect("written");
    found("its contents have changed since they were written");
    fs::write(&part, &bytes[..2000]).expect("written");
    found("has 2000 bytes");
    fs::remove_file(&part).expect("removed");
    found("cannot be read");
    fs::copy(&part, part.with_file_name("part-00000-00001.parquet")).expect("copied");
    found("is not in the manifest");
    for (stray, expected) in [
        ("foo.txt", "is not in the manifest, and does not belong here"),
        ("game/x.parquet", "is not in the manifest, but query engines read it"),
        ("game/part-00007-00000.parquet", "shard 7 has no manifest"),
        ("_SUCCESS", ""),
    ] {
        fs::write(tables.join(stray), "x").expect("written");
        let run = workspace.run(&["verify", "--quiet", "--parquet", "tables"]);
        assert!(
            run.status == i32::from(!expected.is_empty()) && run.stdout.contains(expected),
            "{stray}: {run:?}"
        );
        fs::remove_file(tables.join(stray)).expect("removed");
    }
    let run = workspace.run(&["verify", "--quiet", "--parquet", "nowhere"]);
    assert!(
        run.status == 1 && run.stderr.contains("nowhere: cannot read; no such file or directory"),
        "{run:?}"
    );
    let text = fs::read_to_string(&manifest).expect("a manifest");
    fs::write(&manifest, text.replace(r#""rows": 53,"#, r#""rows": 54,"#)).expect("written");
    found("rows");
    // Damaged files can be overwritten.
    fs::remove_file(&part).expect("removed");
    fs::write(&manifest, text.replace(r#""rows": 53,"#, r#""rows": 54,"#)).expect("written");
    workspace.run(&[
        "index",
        "--quiet",
        "--partition-by",
        "none",
        "--overwrite",
        "--parquet",
        "tables",
        &input,
    ]);
    assert!(files(&tables) == files(&whole));
    fs::write(&manifest, "{}").expect("written");
    let run = workspace.run(&["verify", "--parquet", "tables"]);
    assert!(run.status == 1 && run.stderr.contains("not a manifest of this version"), "{run:?}");
    fs::remove_file(&manifest).expect("removed");
    let run = workspace.run(&["verify", "--parquet", "tables"]);
    assert!(run.status == 1 && run.stderr.contains("has no _manifest-*.json"), "{run:?}");
}

/// Files of a damaged database, in which a game lacks its last positions, or all.
#[test]
fn missing_positions_are_found() {
    for missing in ["ply > 3", "ply >= 0"] {
        let workspace = Workspace::in_memory().indexed("1. e4 e5 2. Nf3 Nc6 3. Bb5 *\n\n1. d4 d5 *\n");
        let change = format!("DELETE FROM game_position WHERE game_id = 1 AND {missing}");
        workspace.stdout_of(&["sql", "games.db", "--write", &change]);
        workspace.stdout_of(&["export", "games.db", "--parquet", "tables"]);
        let run = workspace.run(&["verify", "--parquet", "tables"]);
        let found = "shard 0: game_position does not have all positions of the games";
        assert!(run.status == 1 && run.stdout.contains(found), "{missing}: {run:?}");
    }
}

#[test]
fn nothing_is_replaced_without_overwrite_and_shards_coexist() {
    let workspace = Workspace::in_memory().with("odd.pgn", unusual_games());
    let write = |options: &[&str]| {
        workspace.run(&[&["index", "--quiet", "--parquet", "tables", "odd.pgn"], options].concat())
    };
    assert_eq!(write(&[]).status, 3);
    let first = files(&workspace.path("tables"));
    let again = write(&[]);
    assert!(again.status == 1 && again.stderr.contains("already has Parquet files of shard 0"), "{again:?}");
    assert!(first == files(&workspace.path("tables")), "existing files are kept");
    assert_eq!(write(&["--shard", "7"]).status, 3);
    let both = files(&workspace.path("tables"));
    assert_eq!(both.len(), 2 * first.len());
    // The files of the other shard stay, and files that the new run does not write are removed.
    assert_eq!(write(&["--overwrite", "--partition-by", "none"]).status, 3);
    let replaced = files(&workspace.path("tables"));
    let of_shard = |files: &BTreeMap<PathBuf, Vec<u8>>, shard: &str| {
        files.iter().filter(|(path, _)| path.to_string_lossy().contains(shard)).count()
    };
    assert_eq!(of_shard(&replaced, "part-00007-"), of_shard(&first, "part-00000-"));
    assert!(of_shard(&replaced, "part-00000-") < of_shard(&first, "part-00000-"));
    assert_eq!(workspace.run(&["verify", "--quiet", "--parquet", "tables"]).status, 0);
    // A file left behind by a killed run is not read, and the next run removes it.
    let left = workspace.path("tables/game/part-00000-00009.parquet.partial");
    fs::write(&left, "half").expect("written");
    assert_eq!(workspace.run(&["verify", "--quiet", "--parquet", "tables"]).status, 0);
    assert_eq!(write(&["--overwrite", "--partition-by", "none"]).status, 3);
    assert!(!left.exists());
}

#[test]
fn wrong_targets_for_files_are_reported() {
    let workspace = Workspace::in_memory().with("odd.pgn", unusual_games()).indexed(CLUB);
    fs::create_dir_all(workspace.path("mine")).expect("a directory");
    workspace.write("mine/letter.txt", "Dear Åsa");
    for (arguments, expected) in [
        (&["index", "--parquet", "mine", "odd.pgn"][..], "not made by pgndex"),
        (&["index", "--parquet", "odd.pgn", "games.pgn"], "not a directory"),
        (&["index", "--parquet", "tables", "games.db", "odd.pgn"], "pgndex export"),
        (&["index", "--shard", "1", "games.db", "odd.pgn"], "--parquet"),
        (&["export", "games.db", "--parquet", "tables", "--output", "x"], "cannot be used with"),
        (&["export", "games.db", "--parquet", "tables", "--ply", "3"], "whole games"),
        (&["verify"], "required"),
    ] {
        let run = workspace.run(arguments);
        assert!([1, 2].contains(&run.status) && run.stderr.contains(expected), "{expected}: {run:?}");
    }
    assert_eq!(fs::read_dir(workspace.path("mine")).expect("a directory").count(), 1);
    let run =
        workspace.run(&["export", "games.db", "--parquet", "tables", "--player", "Ågren", "--result", "0-1"]);
    assert!(run.status == 0 && run.stderr.contains("no game matches"), "{run:?}");
    assert!(!workspace.path("tables").exists());
}

#[test]
fn a_sample_over_many_partitions_has_the_requested_size() {
    let workspace = Workspace::in_memory().indexed(include_str!("../../examples/famous-games.pgn"));
    workspace.run(&["export", "games.db", "--parquet", "tables", "--partition-by", "month"]);
    let replayed = |sample: &str| -> u64 {
        let printed = workspace.stdout_of(&["verify", "--quiet", "--parquet", "tables", "--sample", sample]);
        let (_, reported) = printed.trim_end().rsplit_once("; ").expect("the number of replayed games");
        reported.strip_suffix(" games replayed").expect("games").parse().expect("a number")
    };
    assert_eq!(replayed("0"), 0);
    assert!((15..30).contains(&replayed("20")), "{}", replayed("20"));
    assert_eq!(replayed("53"), 53);
}

#[test]
fn some_games_of_a_database_are_exported() {
    let workspace = Workspace::in_memory().indexed(&unusual_games());
    let run = workspace.run(&["export", "games.db", "--parquet", "tables", "--player", "Knight, B"]);
    assert!(run.stderr.contains("2 games with 14 positions"), "{run:?}");
    assert!(
        workspace
            .stdout_of(&["verify", "--quiet", "--parquet", "tables", "--all"])
            .contains("2 games replayed")
    );
    let run = workspace.run(&["export", "games.db", "--parquet", "few", "--sort", "date", "--limit", "1"]);
    assert!(run.stderr.contains("1 game with"), "{run:?}");
    // No position follows a move that cannot be played.
    let change = "UPDATE game_position SET move_code = 12345 WHERE game_id = 1 AND ply = 2";
    workspace.stdout_of(&["sql", "--write", "games.db", change]);
    let run = workspace.run(&["export", "games.db", "--parquet", "damaged"]);
    assert!(run.status == 1 && run.stderr.contains("game 1 has"), "{run:?}");
    assert!(!workspace.path("damaged").exists());
}

#[test]
#[ignore = "takes a minute"]
fn files_of_real_games_have_the_rows_of_a_database() {
    for (name, threshold) in [
        ("lichess-24k", "64"),
        ("annotated_mixed", "3"),
        ("chess960-20k", "2"),
        ("fics", "64"),
        ("tcec-3k", "8"),
    ] {
        let Some(text) = corpus(name) else { return };
        let workspace = Workspace::in_memory().with("games.pgn", text);
        let index = ["index", "--quiet", "--continuation-threshold", threshold];
        workspace.run(&[&index[..], &["games.db", "games.pgn"]].concat());
        let write = ["--partition-by", "year", "--parquet", "written", "games.pgn"];
        workspace.run(&[&index[..], &write].concat());
        agree(&workspace, "written", "games.db");
        workspace.run(&["export", "games.db", "--partition-by", "year", "--parquet", "exported"]);
        assert!(files(&workspace.path("written")) == files(&workspace.path("exported")), "{name}");
        assert_eq!(
            workspace.run(&["verify", "--quiet", "--parquet", "written", "--all"]).status,
            0,
            "{name}"
        );
    }
}

#[test]
#[ignore = "takes half a minute"]
fn files_of_killed_runs_are_not_read() {
    let Some(text) = corpus("tcec-3k") else { return };
    let workspace = Workspace::in_memory().with("games.pgn", text);
    let arguments = ["index", "--quiet", "--partition-by", "none", "--parquet", "tables", "games.pgn"];
    workspace.run(&["index", "--quiet", "--partition-by", "none", "--parquet", "whole", "games.pgn"]);
    let whole = files(&workspace.path("whole"));
    let mut complete = 0;
    for delay in (0..4000).step_by(400) {
        let mut child =
            workspace.command(&arguments).stderr(Stdio::null()).spawn().expect("the program runs");
        std::thread::sleep(Duration::from_millis(delay));
        child.kill().expect("killed");
        child.wait().expect("an exit status");
        if workspace.path("tables/_manifest-00000.json").exists() {
            complete += 1;
            assert!(files(&workspace.path("tables")) == whole, "{delay}");
        } else {
            let run = workspace.run(&["verify", "--parquet", "tables"]);
            assert!(run.status == 1, "{run:?}");
        }
        let run = workspace.run(&arguments);
        assert!([0, 1, 3].contains(&run.status), "{run:?}");
        assert!(files(&workspace.path("tables")) == whole, "the same command completes the work: {delay}");
        fs::remove_dir_all(workspace.path("tables")).expect("removed");
    }
    println!("{complete} runs were complete before they were killed");
}
