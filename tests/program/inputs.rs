//! `pgndex index` as a program, with standard input, pipes, patterns and lists.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::command::Run;
use crate::workspace::{Workspace, run_with_input};

const GAMES: &str = include_str!("../../examples/famous-games.pgn");

/// All data about games and positions, and the digest of the source.
fn contents(workspace: &Workspace, database: &str) -> Vec<String> {
    let database = workspace.connection(database);
    let mut rows = Vec::new();
    for query in [
        "SELECT bytes || ' ' || digest FROM source",
        "SELECT game_id || ' ' || byte_offset || ' ' || byte_length || ' ' || ply_count || ' ' || moves_hash FROM game",
        "SELECT game_id || ' ' || ply || ' ' || key || ' ' || fen FROM game_position",
        "SELECT line || ' ' || byte_offset || ' ' || kind FROM problem",
    ] {
        let mut query = database.prepare(query).unwrap();
        rows.extend(query.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap));
    }
    rows
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn standard_input_is_read_like_a_file() {
    let workspace = Workspace::new();
    workspace.write("plain.pgn", GAMES);
    assert_eq!(workspace.run(&["index", "-q", "plain.db", "plain.pgn"]).status, 0);
    let expected = contents(&workspace, "plain.db");
    let utf_16: Vec<u8> =
        "\u{feff}".encode_utf16().chain(GAMES.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    for (what, input) in [
        ("plain", GAMES.as_bytes().to_vec()),
        ("zstd", zstd::encode_all(GAMES.as_bytes(), 3).unwrap()),
        ("gzip", [gzip(&GAMES.as_bytes()[..1000]), gzip(&GAMES.as_bytes()[1000..])].concat()),
        ("utf-16", utf_16),
    ] {
        let Run { status, stdout: out, stderr: err } =
            run_with_input(workspace.command(&["index", "--json", "--overwrite", "in.db", "-"]), input);
        assert_eq!((status, err.as_str()), (0, ""), "{what}");
        let summary: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(summary["input_bytes"], GAMES.len(), "{what}");
        assert!(contents(&workspace, "in.db") == expected, "{what}");
    }
    let gone = "pgndex: note: -: standard input cannot be read again, so the games indexed from this source could not be compared with it\n";
    assert_eq!(workspace.run(&["verify", "in.db"]).stderr, gone);
    let Run { status, stderr: err, .. } =
        run_with_input(workspace.command(&["index", "-q", "--overwrite", "in.db", "-"]), b"");
    assert_eq!(status, 1, "the database is kept");
    let nothing = "standard input: the input is empty; did the program that writes to it fail?";
    assert!(err.contains(nothing) && err.contains("in.db is not replaced"), "{err}");
    let run = run_with_input(workspace.command(&["index", "-q", "new.db", "-"]), b"");
    assert_eq!(run.status, 3);
    assert_eq!(run.stderr, format!("pgndex: error: {nothing}\n"));
}

#[test]
fn a_damaged_archive_is_reported_and_changes_the_status() {
    let workspace = Workspace::new();
    let packed = gzip(GAMES.as_bytes());
    workspace.write("cut.pgn.gz", &packed[..packed.len() - 10]);
    let Run { status, stderr: err, .. } = workspace.run(&["index", "-q", "a.db", "cut.pgn.gz"]);
    assert_eq!(status, 3);
    assert!(err.starts_with("pgndex: error: cut.pgn.gz: damaged near byte "), "{err}");
    assert!(
        err.contains("it ends too early. Download the file again, or create it again. The games before this point are kept\n"),
        "{err}"
    );
    let Run { status, stderr: err, .. } =
        run_with_input(workspace.command(&["index", "-q", "b.db", "-"]), b"PK\x03\x04");
    assert_eq!(status, 1);
    assert_eq!(
        err,
        "pgndex: error: nothing to index: standard input: a zip archive on a stream, not PGN text; give it as a file\n"
    );
    assert!(!workspace.path("b.db").exists());
    workspace.write("plain.pgn", GAMES);
    let run = run_with_input(workspace.command(&["index", "-q", "b.db", "plain.pgn", "-"]), &packed[..5]);
    assert_eq!(run.status, 3);
    let kinds = workspace.run(&["sql", "b.db", "SELECT kind FROM problem", "--format", "csv"]).stdout;
    assert_eq!(kinds, "kind\nunreadable-source\n", "{}", run.stderr);
}

#[test]
fn patterns_lists_and_repeated_files() {
    let workspace = Workspace::new();
    workspace.write("a1.pgn", "1. e4 *\n");
    workspace.write("a2.pgn.gz", gzip(b"1. d4 d5 *\n"));
    workspace.write("list.txt", "# two\na2.pgn.gz\n\na1.pgn\n");
    let Run { status, stdout: out, stderr: err } =
        workspace.run(&["index", "--json", "a.db", "a*.pgn*", "@list.txt"]);
    assert_eq!(status, 0, "{err}");
    assert_eq!(
        err,
        "pgndex: note: a2.pgn.gz: named more than once, but read only once\npgndex: note: a1.pgn: named more than once, but read only once\n"
    );
    let summary: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&summary["games"], &summary["plies"]), (&2.into(), &3.into()));
    let Run { status, stderr: err, .. } = workspace.run(&["index", "-q", "b.db", "z*.pgn"]);
    assert_eq!(status, 1);
    assert_eq!(
        err,
        "pgndex: error: nothing to index: z*.pgn: no file matches this pattern; check the pattern\n"
    );
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_read_like_a_file() {
    let workspace = Workspace::new();
    assert!(Command::new("mkfifo").arg(workspace.path("pipe")).status().unwrap().success());
    let mut child = workspace.command(&["index", "-q", "a.db", "pipe"]).spawn().unwrap();
    fs::write(workspace.path("pipe"), gzip(GAMES.as_bytes())).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(contents(&workspace, "a.db")[0].split(' ').next().unwrap(), GAMES.len().to_string());
    let verified = workspace.run(&["verify", "a.db"]).stderr;
    assert!(verified.starts_with("pgndex: note: pipe: not a regular file, so "), "{verified}");
}

#[cfg(unix)]
#[test]
fn a_run_waiting_for_input_can_be_stopped() {
    let workspace = Workspace::new();
    let mut command = workspace.command(&["index", "-q", "a.db", "-"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&GAMES.as_bytes()[..20_000]).unwrap();
    stdin.flush().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let started = Instant::now();
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let status = child.wait().unwrap();
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    assert_eq!(status.code(), Some(130));
    assert_eq!(fs::read_dir(workspace.directory()).unwrap().count(), 0, "a file is left behind");
    drop(stdin);
}

#[cfg(unix)]
#[test]
fn a_pattern_without_matches_ends() {
    use std::os::unix::fs::symlink;
    let workspace = Workspace::new();
    fs::create_dir_all(workspace.path("a/b/c")).unwrap();
    for (link, target) in
        [("a/l", "."), ("a/m", "."), ("a/b/l", ".."), ("a/b/c/l", "../.."), ("a/b/c/m", "..")]
    {
        symlink(target, workspace.path(link)).unwrap();
    }
    let Run { status, stderr: err, .. } = workspace.run(&["index", "a.db", "a/**/zzz*.nope"]);
    let expected =
        "pgndex: error: nothing to index: a/**/zzz*.nope: no file matches this pattern; check the pattern\n";
    assert_eq!((status, err.as_str()), (1, expected));
}

/// Names of files and directories that are not UTF-8, or contain control characters.
#[cfg(unix)]
#[test]
fn names_may_be_any_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let workspace = Workspace::new();
    let odd: [&[u8]; 3] = [b"odd\xff", b"\x1b[31mred\n", "gewöhnlich".as_bytes()];
    for name in odd {
        let directory = workspace.directory().join(OsStr::from_bytes(name));
        fs::create_dir(&directory).unwrap();
        let games = directory.join(OsStr::from_bytes(&[name, b".pgn"].concat()));
        fs::write(&games, GAMES).unwrap();
        let database = directory.join("a.db");
        let run = |arguments: &[&str]| {
            let mut command = workspace.command(&arguments[..1]);
            let output = command.arg(&database).args(&arguments[1..]).output().unwrap();
            let Run { status, stdout, stderr } = Run::of(output);
            // Exported data is not meant for a terminal.
            let shown = if arguments[0] == "export" { &stderr } else { &format!("{stdout}{stderr}") };
            assert!(!shown.contains('\u{1b}'), "{arguments:?}\n{shown}");
            (status, stdout, stderr)
        };
        let index = || {
            let mut command = workspace.command(&["index", "--json"]);
            let Run { status, stdout, stderr } =
                Run::of(command.args([&database, &directory]).output().unwrap());
            assert_eq!(status, 0, "{stderr}");
            let summary: serde_json::Value = serde_json::from_str(&stdout).unwrap();
            (summary["games"].as_u64().unwrap(), summary["known_sources"].as_u64().unwrap_or(0))
        };
        assert_eq!(index(), (53, 0));
        assert_eq!(index(), (0, 1));
        fs::write(&games, format!("{GAMES}\n[White \"x\"]\n\n1. a4 *\n")).unwrap();
        assert_eq!(index().0, 1, "only the new game is read");
        let (status, stdout, stderr) = run(&["verify"]);
        assert_eq!((status, stderr.as_str()), (0, ""), "{stdout}");
        assert!(stdout.ends_with("54 compared with the source\n"), "{stdout}");
        let connection = rusqlite::Connection::open(&database).unwrap();
        let read =
            |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get_ref(1)?.as_bytes()?.to_vec(), row.get(2)?));
        let (rows, path, kind): (i64, _, String) = connection
            .query_row("SELECT count(*), path, typeof(path) FROM source WHERE first_byte > 0", [], read)
            .unwrap();
        assert_eq!((rows, path), (1, games.as_os_str().as_bytes().to_vec()));
        assert_eq!(kind, if name.contains(&0xff) { "blob" } else { "text" });
        for arguments in [
            &["info"][..],
            &["info", "--format", "json"],
            &["game", "1"],
            &["game", "1", "--format", "json"],
            &["export", "--format", "csv"],
            &["export", "--format", "pgn"],
            &["sql", "SELECT * FROM games LIMIT 1"],
            &["verify", "--json"],
        ] {
            let (status, _, stderr) = run(arguments);
            assert_eq!((status, stderr.as_str()), (0, ""), "{arguments:?}");
        }
        fs::remove_file(&games).unwrap();
        let (status, _, stderr) = run(&["verify"]);
        assert_eq!((status, stderr.lines().count()), (0, 1), "{stderr}");
        assert!(
            stderr.contains(
                "no longer exists, so the games indexed from this source could not be compared with it"
            ),
            "{stderr}"
        );
    }
}

#[cfg(unix)]
#[test]
fn endless_inputs_are_an_error() {
    let workspace = Workspace::new().with("b.pgn", "1. e4 *\n").with("long.txt", "x".repeat(5000));
    assert!(Command::new("mkfifo").arg(workspace.path("a.pgn")).status().unwrap().success());
    for (argument, reported) in [
        ("/dev/zero", "/dev/zero: neither a file nor a directory"),
        ("@/dev/zero", "/dev/zero: longer than 64 MiB; this is not a list of paths"),
        ("@long.txt", "long.txt: line 1 is longer than 4096 bytes; this is not a list of paths"),
        ("a*.pgn", "a.pgn: a named pipe, which patterns skip; to read it, give its name without a pattern"),
    ] {
        let message = workspace.failure(&["index", "-q", "a.db", argument]);
        assert!(message.contains(reported) && message.len() < 500, "{message}");
        assert!(!workspace.path("a.db").exists());
    }
    // The other files that match the pattern are read.
    let run = workspace.run(&["index", "-q", "a.db", "*.pgn"]);
    assert_eq!(run.status, 3);
    assert!(run.stderr.contains("a.pgn: a named pipe"), "{run:?}");
    assert_eq!(workspace.number("a.db", "SELECT count(*) FROM game"), 1);
    let message = workspace.failure(&["players", "a.db", "--aliases", "/dev/zero"]);
    assert!(message.contains("/dev/zero: more than 64 MiB"), "{message}");
}

/// However little memory is available, the program prints a message. The run itself or the next one removes temporary
/// files.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_reported() {
    let workspace = Workspace::new();
    workspace.write("a.pgn", zstd::encode_all(GAMES.repeat(60).as_bytes(), 3).unwrap());
    let (mut failed, mut out_of_memory) = (0, 0);
    for mib in (24..=112).step_by(4) {
        let command =
            workspace.command(&["index", "-q", "--overwrite", "--memory", "64M", "-j", "2", "a.db", "a.pgn"]);
        let output = Command::new("bash")
            .args(["-c", &format!("ulimit -v {} && exec \"$0\" \"$@\"", mib << 10)])
            .arg(command.get_program())
            .args(command.get_args())
            .current_dir(workspace.directory())
            .output()
            .expect("a run");
        let reported = String::from_utf8_lossy(&output.stderr).into_owned();
        // The C library ends a process that has no memory to start a thread, and the kernel ends a process whose stack
        // cannot grow. Without memory, temporary files cannot always be listed for removal.
        let is_left = || workspace.names().iter().any(|name| name.starts_with('.'));
        if is_left() {
            let run = workspace.run(&["index", "-q", "--overwrite", "a.db", "a.pgn"]);
            assert!(run.status == 0 && !is_left(), "{mib} MiB: {reported}: {run:?}, {:?}", workspace.names());
        }
        match output.status.code() {
            Some(0) => continue,
            Some(1) => failed += 1,
            None if reported.is_empty() || reported.starts_with("Fatal glibc error") => continue,
            // The program itself could not be loaded.
            Some(127) => continue,
            status => panic!("{mib} MiB: {status:?}, {reported}"),
        }
        assert!(reported.contains("pgndex: error: "), "{mib} MiB: {reported}");
        out_of_memory += u32::from(reported.contains("out of memory: the system provides"));
    }
    assert!(failed > 0 && out_of_memory > 0, "{failed} runs failed, {out_of_memory} of them out of memory");
}
