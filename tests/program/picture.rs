//! Pictures of positions: their contents, where they are written, and that different programs draw them alike.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::needs::{has_program, python_that_runs};
use crate::workspace::Workspace;

const FAMOUS: &str = include_str!("../../examples/famous-games.pgn");
/// The maximum differences between two programs, in thousandths: the mean of all pixels, and the mean of the square
/// with the largest difference. The programs smooth edges differently.
const APART: [f64; 2] = [5.0, 10.0];

/// A workspace with the pictures of five commands.
fn with_pictures() -> (Workspace, [&'static str; 5]) {
    let workspace = Workspace::new().indexed(FAMOUS);
    let explore = ["explore", "games.db", "--svg"];
    for (arguments, reported) in [
        ([&explore[..], &["start.svg"]].concat(), "start.svg"),
        ([&explore, &["line.svg", "--moves", "1. e4 e5 2. Nf3 Nc6", "--flip"][..]].concat(), "line.svg"),
        (["game", "games.db", "1", "--svg", "end.svg"].to_vec(), "end.svg"),
        (["game", "games.db", "1", "--ply", "11", "--svg", "ply.svg", "--format", "pgn"].to_vec(), "ply.svg"),
        (["key", "8/8/8/4k3/8/4K3/4P3/8 w - -", "--svg", "key.svg", "--flip"].to_vec(), "key.svg"),
    ] {
        let run = workspace.run(&arguments);
        assert_eq!(run.status, 0, "{run:?}");
        assert_eq!(run.stderr, format!("pgndex: note: picture written to {reported}\n"));
        assert!(!run.stdout.is_empty());
    }
    (workspace, ["start.svg", "line.svg", "end.svg", "ply.svg", "key.svg"])
}

/// The lines that the script prints, one for each picture.
fn inspected(python: &str, how: &str, workspace: &Workspace, files: &[&str]) -> Vec<String> {
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/picture.py"))
        .arg(how)
        .args(files.iter().map(|file| workspace.path(file)))
        .stderr(Stdio::inherit())
        .output()
        .expect("the script runs");
    assert!(output.status.success(), "the script failed");
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    printed.lines().map(str::to_owned).collect()
}

#[test]
fn pictures_show_pieces_marks_and_arrows() {
    let Some(python) = python_that_runs("import xml.etree.ElementTree") else { return };
    let (workspace, files) = with_pictures();
    insta::assert_snapshot!(inspected(python, "structure", &workspace, &files).join("\n"), @"
    32 pieces, marks [], arrows ['c2c4', 'd2d4', 'e2e4', 'f2f4', 'g1f3', 'g2g3']
    32 pieces, marks ['b8', 'c6'], arrows ['b1c3', 'f1b5', 'f1c4']
    29 pieces, marks ['c3', 'd5', 'e7'], arrows []
    29 pieces, marks ['c4', 'f7', 'e8'], arrows []
    3 pieces, marks [], arrows []
    ");
}

#[test]
fn chromium_and_librsvg_draw_the_same() {
    let Some(python) = python_that_runs("import PIL.Image") else { return };
    if !has_program("chromium") || !has_program("rsvg-convert") {
        return;
    }
    let (workspace, files) = with_pictures();
    let apart = inspected(python, "rendered", &workspace, &files);
    println!("differences in thousandths: {apart:?}");
    assert_eq!(apart.len(), files.len());
    for (file, apart) in files.iter().zip(apart) {
        let parts: Vec<f64> = apart.split(' ').filter_map(|part| part.parse().ok()).collect();
        let [mean, worst] = parts[..] else { panic!("{file}: {apart}") };
        assert!(mean < APART[0] && worst < APART[1], "{file}: differs by {apart} thousandths");
    }
}

#[test]
fn an_answer_is_the_same_with_a_picture() {
    let workspace = Workspace::for_command(&["explore", "games.db", "--moves", "1. e4 c5"]).indexed(FAMOUS);
    for format in ["table", "json", "csv"] {
        let alone = workspace.ok(&["--format", format]);
        assert_eq!(workspace.stdout_of(&["--format", format, "--svg", "a.svg", "--overwrite"]), alone);
    }
    let first = std::fs::read_to_string(workspace.path("a.svg")).expect("a picture");
    workspace.stdout_of(&["--svg", "b.svg"]);
    assert_eq!(std::fs::read_to_string(workspace.path("b.svg")).expect("a picture"), first);
    // Without moves there are no arrows.
    let run =
        workspace.run(&["explore", "games.db", "--fen", "8/8/8/4k3/8/4K3/4P3/8 w - -", "--svg", "c.svg"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(!std::fs::read_to_string(workspace.path("c.svg")).expect("a picture").contains("arrows"));
}

#[test]
fn only_allowed_files_are_overwritten() {
    let workspace =
        Workspace::for_command(&["explore", "games.db"]).indexed(FAMOUS).with("there.svg", "mine");
    insta::assert_snapshot!(workspace.failure(&["--svg", "there.svg"]), @"pgndex: error: there.svg: already exists; use --overwrite to replace it, or name another file");
    insta::assert_snapshot!(workspace.failure(&["--svg", "."]), @"pgndex: error: .: a directory; name a file for the picture");
    insta::assert_snapshot!(workspace.failure(&["--svg", "games.db", "--overwrite"]), @"pgndex: error: games.db: is the database itself or one of its auxiliary files, so it is not replaced; choose another file");
    for (name, text) in [("games.pgn", FAMOUS.as_bytes()), ("other.db", b"SQLite format 3\0 and more")] {
        workspace.write(name, text);
        let reported = workspace.failure(&["--svg", name, "--overwrite"]);
        assert!(
            reported.starts_with(&format!("pgndex: error: {name}: "))
                && reported.contains("does not replace"),
            "{reported}"
        );
        assert_eq!(std::fs::read(workspace.path(name)).expect("a file"), text);
    }
    insta::assert_snapshot!(workspace.failure(&["--svg", "nowhere/a.svg"]), @"
    pgndex: error: nowhere/a.svg: its directory does not exist; create it first
    ");
    assert_eq!(std::fs::read_to_string(workspace.path("there.svg")).expect("a file"), "mine");
    workspace.stdout_of(&["--svg", "there.svg", "--overwrite"]);
    assert!(std::fs::read_to_string(workspace.path("there.svg")).expect("a file").starts_with("<svg "));
}

#[test]
fn without_an_answer_no_picture_is_written() {
    let workspace = Workspace::new().indexed(FAMOUS);
    let before = workspace.names();
    let failure = |status, arguments: &[&str]| {
        let run = workspace.run(&[arguments, &["--svg", "a.svg"]].concat());
        assert_eq!((run.status, workspace.names()), (status, before.clone()), "{run:?}");
        run.stderr
    };
    failure(2, &["explore", "games.db", "--moves", "1. e4 e4"]);
    failure(2, &["explore", "games.db", "--flop"]);
    failure(2, &["key", "8/8/8/8/8/8/8/8 w - -"]);
    failure(1, &["explore", "games.db", "--openings", "nowhere.tsv"]);
    failure(1, &["game", "games.db", "999"]);
    insta::assert_snapshot!(failure(1, &["game", "games.db", "1", "--ply", "99"]), @"pgndex: error: game 1 has 13 plies; there is no picture of a later ply");
    insta::assert_snapshot!(failure(2, &["game", "games.db", "1-2"]), @"pgndex: error: --svg shows one position; give one game and at most one ply");
    insta::assert_snapshot!(failure(2, &["game", "games.db", "1", "--ply", "1,2"]), @"pgndex: error: --svg shows one position; give one game and at most one ply");
}
