//! `pgndex watch`: new files are added, each of them once.

use std::fs;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::command::{Run, bound_by_modes};
use crate::workspace::Workspace;

const ONE: &str = "[White \"a\"]\n\n1. e4 e5 *\n";
const TWO: &str = "[White \"b\"]\n\n1. d4 d5 *\n";

fn workspace() -> Workspace {
    let workspace = Workspace::new();
    fs::create_dir(workspace.path("in")).unwrap();
    workspace
}

fn games(workspace: &Workspace) -> i64 {
    workspace.number("games.db", "SELECT count(*) FROM game")
}

fn once(workspace: &Workspace) -> Run {
    let run = workspace.run(&["watch", "games.db", "in", "--once", "--settle", "0"]);
    assert_eq!(run.status, 0, "{run:?}");
    run
}

fn end(child: Child, signal: &str) -> Run {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    Run::of(child.wait_with_output().unwrap())
}

#[test]
fn ready_files_are_added_once() {
    let workspace = workspace();
    assert_eq!(once(&workspace).stderr, "");
    assert!(!workspace.path("games.db").exists());
    workspace.write("in/a.pgn", ONE);
    workspace.write("in/.b.pgn", TWO);
    workspace.write("in/b.pgn.part", TWO);
    assert_eq!(once(&workspace).stderr, "pgndex: note: added 1 game to games.db\n");
    assert_eq!(once(&workspace).stderr, "");
    fs::rename(workspace.path("in/b.pgn.part"), workspace.path("in/b.pgn")).unwrap();
    workspace.write("in/bad.pgn.zst", "no archive and no game");
    let run = workspace.run(&["watch", "games.db", "in", "--once", "--settle", "0"]);
    assert_eq!(run.status, 3, "{run:?}");
    assert!(run.stderr.contains("pgndex: error: in/bad.pgn.zst: "), "{run:?}");
    assert!(run.stderr.ends_with("pgndex: note: added 1 game to games.db\n"), "{run:?}");
    assert_eq!(games(&workspace), 2);
    workspace.write("in/c.pgn", "[White \"c\"]\n\n1. e5 *\n");
    let run = workspace.run(&["watch", "games.db", "in", "--once", "--settle", "0"]);
    assert_eq!(run.status, 3, "{run:?}");
    let reported = "pgndex: error: 1 error in the input: in/c.pgn:3:4: 1.e5: illegal move (White has no pawn that can reach e5) in ";
    assert!(
        run.stderr.contains(reported)
            && run.stderr.contains("; to list all problems: pgndex sql games.db \"SELECT "),
        "{run:?}"
    );
    assert_eq!(workspace.run(&["verify", "--all", "games.db"]).status, 0);
}

#[test]
fn a_file_that_has_just_changed_is_not_read() {
    let workspace = workspace();
    workspace.write("in/a.pgn", ONE);
    let run = workspace.run(&["watch", "games.db", "in", "--once", "--settle", "3600"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(
        run.stderr,
        "pgndex: note: 1 file changed less than 3,600 seconds ago (--settle); left for the next run\n"
    );
    assert!(!workspace.path("games.db").exists());
}

#[test]
fn a_single_run_waits_for_a_file_that_has_just_changed() {
    let workspace = workspace();
    workspace.write("in/a.pgn", ONE);
    let file = fs::File::options().write(true).open(workspace.path("in/a.pgn")).unwrap();
    // A modification time in the future, from a wrong clock.
    file.set_modified(std::time::SystemTime::now() + Duration::from_secs(3600)).unwrap();
    let run = workspace.run(&["watch", "games.db", "in", "--once", "--settle", "1"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, "pgndex: note: added 1 game to games.db\n"));
}

#[test]
fn an_unreadable_directory_is_reported() {
    use std::os::unix::fs::PermissionsExt as _;
    let workspace = workspace();
    workspace.write("in/a.pgn", ONE);
    fs::create_dir(workspace.path("in/closed")).unwrap();
    fs::set_permissions(workspace.path("in/closed"), fs::Permissions::from_mode(0o000)).unwrap();
    let command = workspace.command(&["watch", "games.db", "in", "--once", "--settle", "0"]);
    let Some(mut command) = bound_by_modes(&command) else { return };
    let run = Run::of(command.output().unwrap());
    assert_eq!(run.status, 3, "{run:?}");
    assert!(run.stderr.starts_with("pgndex: error: in/closed: this directory cannot be read: "), "{run:?}");
    assert_eq!(games(&workspace), 1);
}

#[test]
fn an_invalid_target_is_reported_before_any_file_arrives() {
    let workspace = workspace();
    workspace.write("a.pgn", ONE);
    for path in ["a.pgn", "in"] {
        let reported = workspace.failure(&["watch", path, "in", "--once"]);
        assert!(reported.contains(path), "{reported}");
    }
    let missing = workspace.failure(&["watch", "missing/a.db", "in", "--once"]);
    assert!(missing.contains("missing: this directory does not exist"), "{missing}");
    let missing = workspace.failure(&["watch", "a.db", "in", "--once", "--temp-dir", "missing"]);
    assert!(missing.contains("missing: cannot create temporary files"), "{missing}");
    assert_eq!(workspace.names(), ["a.pgn", "in"]);
}

#[test]
fn a_missing_directory_is_reported() {
    let workspace = Workspace::new();
    let reported = workspace.failure(&["watch", "games.db", "missing"]);
    assert!(
        reported.starts_with(
            "pgndex: error: missing: cannot read the directory to watch; name an existing directory, "
        ),
        "{reported}"
    );
}

#[test]
fn watch_runs_until_stopped_and_notifies_systemd() {
    for (signal, is_abstract) in [("-TERM", false), ("-INT", true)] {
        let workspace = workspace();
        let name = format!("pgndex-test-{}", std::process::id());
        let path = workspace.path("notify");
        let (socket, reported) = if is_abstract {
            let address = SocketAddr::from_abstract_name(&name).unwrap();
            (UnixDatagram::bind_addr(&address).unwrap(), format!("@{name}").into())
        } else {
            (UnixDatagram::bind(&path).unwrap(), path.into_os_string())
        };
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let receive = || {
            let mut buffer = [0; 200];
            // A socket with a timeout is also interrupted when the process was stopped and continued.
            let length = loop {
                match socket.recv(&mut buffer) {
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    length => break length.unwrap(),
                }
            };
            String::from_utf8_lossy(&buffer[..length]).into_owned()
        };
        // Messages are read continuously, because the watcher drops them if the queue is full.
        let until = |text: &str| {
            let began = Instant::now();
            while receive() != text {
                assert!(began.elapsed() < Duration::from_secs(60), "{text} was not received");
            }
        };
        let child = workspace
            .command(&["watch", "games.db", "in", "--settle", "0", "--interval", "1"])
            .env("NOTIFY_SOCKET", reported)
            .env("WATCHDOG_USEC", "200000")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        assert_eq!(receive(), "READY=1\nSTATUS=watching");
        until("WATCHDOG=1");
        // The file is renamed into the directory, so that it is never seen incomplete.
        workspace.write("a.pgn", ONE);
        fs::rename(workspace.path("a.pgn"), workspace.path("in/a.pgn")).unwrap();
        until("STATUS=adding 1 file");
        until("STATUS=watching");
        assert_eq!(games(&workspace), 1);
        workspace.write("b.pgn", TWO);
        fs::rename(workspace.path("b.pgn"), workspace.path("in/b.pgn")).unwrap();
        until("STATUS=adding 1 file");
        until("STATUS=watching");
        assert_eq!(games(&workspace), 2);
        // The watcher creates the removed database again.
        fs::remove_file(workspace.path("games.db")).unwrap();
        until("STATUS=adding 2 files");
        until("STATUS=watching");
        assert_eq!(games(&workspace), 2);
        let run = end(child, signal);
        assert_eq!(run.status, 0, "{run:?}");
        until("STOPPING=1");
        let [one, two] =
            ["1 game", "2 games"].map(|games| format!("pgndex: note: added {games} to games.db\n"));
        assert_eq!(run.stderr, "pgndex: note: watching in\n".to_owned() + &one.repeat(2) + &two);
        assert_eq!(workspace.run(&["verify", "--all", "games.db"]).status, 0);
    }
}

#[test]
fn additions_use_the_settings_of_the_database() {
    let workspace = Workspace::new().with("a.pgn", "[White \"a\"]\n[Black \"b\"]\n\n1. e4 {a} e5 *\n");
    fs::create_dir(workspace.path("in")).unwrap();
    workspace.write("my.tsv", "eco\tname\tpgn\nC20\tOurs\t1. e4 e5\n");
    let made = [
        "--annotations",
        "none",
        "--duplicates",
        "keep",
        "--openings",
        "my.tsv",
        "--continuation-threshold",
        "1",
    ];
    workspace.stdout_of(&[&["index", "--quiet", "games.db", "a.pgn"], &made[..]].concat());
    let reported = |database: &str| {
        let sql = "SELECT count(*) || ' ' || (SELECT count(*) FROM comment) || ' ' || count(DISTINCT opening) || ' ' || min(opening) FROM games";
        workspace.connection(database).query_row(sql, [], |row| row.get::<_, String>(0)).unwrap()
    };
    // The same game with another comment: a duplicate, unless duplicates are kept.
    workspace.write("b.pgn", "[White \"a\"]\n[Black \"b\"]\n\n1. e4 {b} e5 *\n");
    workspace.stdout_of(&["index", "--quiet", "games.db", "b.pgn"]);
    assert_eq!(reported("games.db"), "2 0 1 Ours");
    workspace.write("in/c.pgn", "[White \"a\"]\n[Black \"b\"]\n\n1. e4 {c} e5 *\n");
    once(&workspace);
    assert_eq!(reported("games.db"), "3 0 1 Ours");
    // An option applies to one run only.
    workspace.write("d.pgn", "[White \"a\"]\n[Black \"b\"]\n\n1. e4 {d} e5 *\n");
    workspace.stdout_of(&["index", "--quiet", "games.db", "d.pgn", "--annotations", "all"]);
    assert_eq!(reported("games.db"), "4 1 1 Ours");
    workspace.write("e.pgn", "[White \"a\"]\n[Black \"b\"]\n\n1. e4 {e} e5 *\n");
    workspace.stdout_of(&["index", "--quiet", "games.db", "e.pgn", "--duplicates", "skip"]);
    assert_eq!(reported("games.db"), "4 1 1 Ours");
    workspace.write("f.pgn", "[White \"a\"]\n[Black \"b\"]\n\n1. e4 {f} e5 *\n");
    workspace.stdout_of(&["index", "--quiet", "games.db", "f.pgn"]);
    assert_eq!(reported("games.db"), "5 1 1 Ours");
    assert_eq!(workspace.run(&["verify", "--all", "games.db"]).status, 0);
    // A database that `watch` creates keeps the settings of the first run.
    workspace.write("in/g.pgn", "[White \"a\"]\n[Black \"b\"]\n\n1. e4 {g} e5 *\n");
    let watched = ["watch", "new.db", "in", "--once", "--settle", "0"];
    workspace.stdout_of(&[&watched[..], &made].concat());
    assert_eq!(reported("new.db"), "2 0 1 Ours");
    workspace.write("in/h.pgn", "[White \"a\"]\n[Black \"b\"]\n\n1. e4 {h} e5 *\n");
    workspace.stdout_of(&watched);
    assert_eq!(reported("new.db"), "3 0 1 Ours");
    let other = workspace.run(&[&watched[..], &["--continuation-threshold", "5"]].concat());
    assert!(other.status == 1 && other.stderr.contains("--continuation-threshold"), "{other:?}");
}
