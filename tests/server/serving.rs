//! A server on a free port, and a client that sends arbitrary requests.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::command;
use crate::needs::python_with;

const LOG: &str = "log.txt";

/// A script that compares responses with the API description. One process serves all tests, because checking the
/// description takes seconds. It ends when its input is closed.
struct Checker {
    script: Child,
    output: BufReader<ChildStdout>,
}

static CHECKER: LazyLock<Option<Mutex<Checker>>> = LazyLock::new(|| {
    let mut script = Command::new(python_with("jsonschema, openapi_spec_validator")?)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/described.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the script runs");
    let output = BufReader::new(script.stdout.take().expect("a pipe"));
    Some(Mutex::new(Checker { script, output }))
});

/// A server that is killed at the end of the test.
pub(crate) struct Serving {
    pub(crate) directory: TempDir,
    child: Child,
    /// For example `127.0.0.1:40123`.
    pub(crate) address: String,
    /// Requests and responses to be compared with the API description.
    seen: Mutex<Vec<Value>>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
    /// The body, which may be compressed.
    pub(crate) bytes: Vec<u8>,
    /// The last five bytes as they were sent; in a complete chunked response, those of the empty chunk.
    pub(crate) raw_end: String,
}

/// Sends a request on a connection, and reads the response to its end.
pub(crate) fn request_on(mut stream: TcpStream, target: &str) -> Answer {
    let request = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    // A server that rejects the request does not read the rest.
    let _ = stream.write_all(request.as_bytes());
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    Answer::read(&bytes)
}

/// A collection in this repository, with games from many years.
pub(crate) fn famous_games() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/famous-games.pgn")
}

/// A directory with a database of these games, which is built only once.
pub(crate) fn directory_of_famous_games() -> TempDir {
    static MADE: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let directory = tempfile::tempdir().expect("a directory");
        index(directory.path(), "games.db", &famous_games());
        std::fs::read(directory.path().join("games.db")).expect("a database")
    });
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("games.db"), &*MADE).expect("written");
    directory
}

/// Builds a database from a PGN file.
pub(crate) fn index(directory: &Path, database: &str, pgn: &Path) {
    let pgn = pgn.to_str().expect("a path");
    let status = command(directory, &["index", "--quiet", database, pgn]).status().expect("the program runs");
    assert!(matches!(status.code(), Some(0 | 3)), "{status}");
}

/// A directory with a database whose export has more than 10 MB.
pub(crate) fn talkative() -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let comment = "a word and another one ".repeat(1000);
    let game = |at: usize| {
        format!(
            "[Event \"{at}\"]\n[White \"A{at}\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n1. e4 {{{comment}}} 1-0\n\n"
        )
    };
    std::fs::write(directory.path().join("games.pgn"), (0..600).map(game).collect::<String>())
        .expect("written");
    index(directory.path(), "games.db", Path::new("games.pgn"));
    directory
}

impl Serving {
    /// Serves the famous games.
    pub(crate) fn famous(options: &[&str]) -> Self {
        Self::start(directory_of_famous_games(), &["games.db"], options)
    }

    /// Serves the games of a text.
    pub(crate) fn with_games(pgn: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::write(directory.path().join("games.pgn"), pgn).expect("written");
        index(directory.path(), "games.db", Path::new("games.pgn"));
        Self::start(directory, &["games.db"], &[])
    }

    /// Serves databases in a directory.
    pub(crate) fn start(directory: TempDir, databases: &[&str], options: &[&str]) -> Self {
        let mut arguments = vec!["serve", "--listen", "127.0.0.1:0"];
        let is_logged = options.contains(&"--log-format");
        if !is_logged {
            arguments.extend(["--log-format", "none"]);
        }
        arguments.extend(databases);
        arguments.extend(options);
        let mut command = command(directory.path(), &arguments);
        if is_logged {
            command.stderr(std::fs::File::create(directory.path().join(LOG)).expect("a file"));
        }
        Self::spawn(directory, &mut command)
    }

    /// Runs a command that serves databases in a directory.
    pub(crate) fn spawn(directory: TempDir, command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("http://").expect("an address").to_owned();
        Self { directory, child, address, seen: Mutex::default() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Stops the server with SIGTERM, and returns its exit status.
    pub(crate) fn end(&mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status().expect("kill runs");
        self.child.wait().expect("an exit status").code()
    }

    /// The processor time of the server, if the system reports it.
    pub(crate) fn processor_time(&self) -> Option<Duration> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        // After the name, the times in user and in kernel mode are the twelfth and the thirteenth values, in hundredths
        // of a second.
        let (_, values) = text.rsplit_once(") ")?;
        let ticks =
            values.split(' ').skip(11).take(2).map(|value| value.parse::<u64>().ok()).sum::<Option<u64>>()?;
        Some(Duration::from_millis(10 * ticks))
    }

    /// Waits for this many lines of the JSON log, and returns all its lines. A thread writes them after the responses.
    pub(crate) fn log(&self, count: usize) -> Vec<Value> {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let text = std::fs::read_to_string(self.path(LOG)).expect("a log");
            let lines: Vec<_> = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).collect();
            if lines.len() >= count {
                return lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
            }
            assert!(Instant::now() < end, "fewer than {count} lines in: {text}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a time limit");
        stream
    }

    /// Sends a complete request, and reads the response to its end.
    pub(crate) fn send(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that rejects the request does not read the rest.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        Answer::read(&bytes)
    }

    /// Sends a request with these header lines.
    pub(crate) fn request(&self, method: &str, target: &str, headers: &[&str], body: &str) -> Answer {
        let own = format!("Host: {}", self.address);
        let has_host = headers.iter().any(|line| line.to_lowercase().starts_with("host:"));
        let mut lines = vec![format!("{method} {target} HTTP/1.1"), "Connection: close".to_owned()];
        lines.extend((!has_host).then_some(own));
        lines.extend(headers.iter().map(|&line| line.to_owned()));
        if method == "POST" {
            lines.push(format!("Content-Length: {}", body.len()));
        }
        let answer = self.send(format!("{}\r\n\r\n{body}", lines.join("\r\n")).as_bytes());
        if (method == "GET" || method == "POST") && answer.header("content-encoding").is_none() {
            let (content_type, text) = (answer.header("content-type"), &answer.body);
            let seen = json!({ "method": method, "target": target, "status": answer.status, "type": content_type, "body": text });
            self.seen.lock().expect("a list").push(seen);
        }
        answer
    }

    /// Compares all responses with the API description, and validates the description as OpenAPI.
    fn check_answers(&self) {
        let seen = self.seen.lock().expect("a list").clone();
        if seen.is_empty() || TcpStream::connect(&self.address).is_err() {
            return; // The server has ended.
        }
        let headers = match std::fs::read_to_string(self.path("token.txt")) {
            Ok(token) => vec![format!("Authorization: Bearer {}", token.trim())],
            Err(_) => Vec::new(),
        };
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        let description = self.request("GET", "/api/openapi.json", &headers, "");
        if description.status != 200 {
            return; // The server rejects all requests.
        }
        let Some(checker) = &*CHECKER else { return };
        let Checker { script, output } = &mut *checker.lock().expect("no test panicked meanwhile");
        let input = script.stdin.as_mut().expect("a pipe");
        writeln!(input, "{}", json!({ "description": description.body, "seen": seen })).expect("written");
        let mut line = String::new();
        output.read_line(&mut line).expect("a line");
        assert_eq!(line.trim(), "[]", "answers differ from the description of the API");
    }

    pub(crate) fn get(&self, target: &str) -> Answer {
        self.request("GET", target, &[], "")
    }

    /// The JSON of a response; the request must succeed.
    #[track_caller]
    pub(crate) fn json(&self, target: &str) -> Value {
        let answer = self.get(target);
        assert_eq!(answer.status, 200, "{target}: {}", answer.body);
        answer.json()
    }

    pub(crate) fn sql(&self, sql: &str) -> Answer {
        self.request("POST", "/api/sql", &[], &serde_json::json!({ "sql": sql }).to_string())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.check_answers();
        }
        let _ = self.child.kill(); // It may have ended already.
        let _ = self.child.wait();
    }
}

impl Answer {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let rest = bytes.get(end + 4..).unwrap_or_default();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let body = if head.to_lowercase().contains("transfer-encoding: chunked") {
            unchunked(rest)
        } else {
            rest.to_vec()
        };
        let raw_end = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(5)..]).into_owned();
        Self { status, head, body: String::from_utf8_lossy(&body).into_owned(), bytes: body, raw_end }
    }

    /// The value of a header line.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|window| window == b"\r\n") {
        let length = usize::from_str_radix(&String::from_utf8_lossy(&bytes[..end]), 16).unwrap_or(0);
        let Some(chunk) = bytes.get(end + 2..end + 2 + length).filter(|chunk| !chunk.is_empty()) else {
            break;
        };
        body.extend_from_slice(chunk);
        bytes = bytes.get(end + 4 + length..).unwrap_or_default();
    }
    body
}
