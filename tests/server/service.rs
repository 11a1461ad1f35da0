//! The systemd unit in the documentation, and the notifications to the service manager.

use std::fs;
use std::process::Command;

use crate::needs::has_program;
use crate::server::serving::{Serving, famous_games, index};

const DOCUMENT: &str = include_str!("../../docs/serve.md");

#[test]
fn the_documented_unit_is_valid_and_starts_the_server() {
    let unit = DOCUMENT.split("```ini\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a unit");
    assert_eq!(unit, include_str!("../../packaging/systemd/pgndex-serve.service"));
    let command = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("a command");
    let ["pgndex", "serve", database, options @ ..] = &command.split(' ').collect::<Vec<_>>()[..] else {
        panic!("unexpected command: {command}")
    };
    let directory = tempfile::tempdir().expect("a directory");
    index(directory.path(), "games.db", &famous_games());
    assert!(database.ends_with("/games.db"), "{database}");
    let server = Serving::start(directory, &["games.db"], options);
    assert_eq!(server.request("GET", "/health", &[], "").status, 200);

    if !has_program("systemd-analyze") {
        return;
    }
    let unit = unit.replace("=pgndex serve", &format!("={} serve", env!("CARGO_BIN_EXE_pgndex")));
    fs::write(server.path("pgndex-serve.service"), unit).expect("written");
    let output = Command::new("systemd-analyze")
        .args(["verify", "--man=no", "pgndex-serve.service"])
        .current_dir(server.directory.path())
        .output()
        .expect("the program runs");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !printed.contains("pgndex-serve.service"), "{printed}");
}

#[cfg(unix)]
#[test]
fn the_service_manager_is_notified_of_start_and_end() {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::net::UnixDatagram;
    use std::process::Stdio;
    use std::time::Duration;

    let directory = tempfile::tempdir().expect("a directory");
    index(directory.path(), "games.db", &famous_games());
    let socket = directory.path().join("notify");
    let manager = UnixDatagram::bind(&socket).expect("a socket");
    manager.set_read_timeout(Some(Duration::from_secs(60))).expect("a time limit");
    let receive = || {
        let mut word = [0; 100];
        let length = manager.recv(&mut word).expect("a word");
        String::from_utf8_lossy(&word[..length]).into_owned()
    };
    let serve = ["serve", "games.db", "--listen", "127.0.0.1:0", "--log-format", "none"];
    let mut server = crate::command::command(directory.path(), &serve)
        .env("NOTIFY_SOCKET", &socket)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the server starts");
    assert_eq!(receive(), "READY=1");
    // When the service is ready, requests are answered at once.
    let mut address = String::new();
    BufReader::new(server.stdout.take().expect("a pipe")).read_line(&mut address).expect("a line");
    let address = address.trim().strip_prefix("http://").expect("an address");
    let stream = std::net::TcpStream::connect(address).expect("a connection");
    assert_eq!(crate::server::serving::request_on(stream, "/health").status, 200);
    let killed = Command::new("kill").args(["-TERM", &server.id().to_string()]).status();
    assert!(killed.expect("kill runs").success());
    assert_eq!(receive(), "STOPPING=1");
    assert_eq!(server.wait().expect("an exit status").code(), Some(0));
}
