//! A server whose log is not read, one that may open only a few files, and one with many databases.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::command::command;
use crate::needs::has_program;
use crate::server::serving::{Serving, famous_games, index};

#[test]
fn an_unread_log_delays_no_request() {
    let directory = tempfile::tempdir().unwrap();
    index(directory.path(), "games.db", &famous_games());
    let (unread, log) = std::io::pipe().unwrap();
    let mut command = command(directory.path(), &["serve", "games.db", "--listen", "127.0.0.1:0"]);
    let mut server = Serving::spawn(directory, command.stderr(log));
    drop(command);
    // More than the buffer of a pipe holds.
    let long = "x".repeat(2000);
    for _ in 0..100 {
        assert_eq!(server.get(&format!("/health?{long}")).status, 200);
    }
    let began = Instant::now();
    assert_eq!(server.end(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    drop(unread);
}

/// A server with this many databases, whose names contain spaces, and a limit on open files.
fn with_file_limit(databases: usize, files: &str) -> Option<Serving> {
    if !has_program("prlimit") {
        return None;
    }
    let directory = tempfile::tempdir().unwrap();
    index(directory.path(), "0 & 1.db", &famous_games());
    let names = Vec::from_iter((0..databases).map(|at| format!("{at} & 1.db")));
    for name in &names[1..] {
        std::fs::copy(directory.path().join(&names[0]), directory.path().join(name)).unwrap();
    }
    let program = command(directory.path(), &["serve", "--listen", "127.0.0.1:0", "-j", "4"]);
    let mut command = Command::new("prlimit");
    command.arg(format!("--nofile={files}")).arg(program.get_program()).args(program.get_args()).args(&names);
    command.current_dir(directory.path()).stdin(Stdio::null()).stderr(Stdio::null());
    Some(Serving::spawn(directory, &mut command))
}

#[track_caller]
fn assert_all_answer(server: &Serving, databases: usize) {
    let listed = server.json("/api/databases")["databases"].as_array().unwrap().clone();
    assert_eq!(listed.len(), databases);
    assert_eq!(listed[0]["path"], "/db/0%20%26%201");
    std::thread::scope(|scope| {
        for target in ["/lichess", "/api/export.pgn?limit=2", "/api/games?material=KRPvKR"] {
            let listed = &listed;
            scope.spawn(move || {
                for database in listed {
                    let target = format!("{}{target}", database["path"].as_str().unwrap());
                    let answer = server.get(&target);
                    assert_eq!(answer.status, 200, "{target}: {}", answer.body);
                }
            });
        }
    });
}

#[test]
fn a_server_with_a_low_file_limit_responds() {
    let Some(server) = with_file_limit(1, "40") else { return };
    assert_all_answer(&server, 1);
}

#[test]
fn many_databases_stay_within_the_file_limit() {
    let Some(server) = with_file_limit(20, "64:256") else { return };
    assert_all_answer(&server, 20);
}
