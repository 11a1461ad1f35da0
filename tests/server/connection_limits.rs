//! More connections than the server allows, and clients that send or read too slowly.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pgndex::server::{LogFormat, Options, Server, Stopper};
use tempfile::TempDir;

use crate::server::serving::{Serving, directory_of_famous_games, request_on, talkative};

/// A server in this process, with other limits than those of the program.
struct Limited {
    address: SocketAddr,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
    _directory: TempDir,
}

impl Limited {
    fn start(directory: TempDir, limit: impl FnOnce(&mut Options)) -> Self {
        let mut options = Options::new(vec![directory.path().join("games.db")]);
        options.listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        options.log = LogFormat::None;
        limit(&mut options);
        let server = Server::bind(options).expect("a listening server");
        let (address, stopper) = (server.address(), server.stopper());
        let thread = std::thread::spawn(move || server.run().expect("the server runs"));
        Self { address, stopper, thread: Some(thread), _directory: directory }
    }

    fn famous(limit: impl FnOnce(&mut Options)) -> Self {
        Self::start(directory_of_famous_games(), limit)
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a time limit");
        stream
    }

    /// A connection from another address of this machine.
    fn connect_from(&self, address: Ipv4Addr) -> TcpStream {
        use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
        bind(&socket, &SocketAddrV4::new(address, 0)).expect("an address of its own");
        connect(&socket, &self.address).expect("a connection");
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a time limit");
        stream
    }

    fn metric(&self, name: &str) -> u64 {
        let answer = request_on(self.connect(), "/metrics");
        let line = answer.body.lines().find_map(|line| line.strip_prefix(name)).expect("a metric");
        line.trim().parse().expect("a number")
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        self.stopper.stop();
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || ended.is_some_and(|ended| ended.is_ok()));
    }
}

#[test]
fn zero_threads_mean_one() {
    let server = Limited::famous(|options| options.threads = 0);
    assert_eq!(request_on(server.connect(), "/api/info").status, 200);
}

/// Whether the server has closed a connection.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_millis(200))).expect("a time limit");
    match stream.read(&mut [0]) {
        Ok(count) => count == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

#[test]
fn silent_clients_do_not_block_others() {
    let server = Serving::famous(&[]);
    let mut idle: Vec<_> = (0..200).map(|_| server.connect()).collect();
    for stream in &mut idle {
        stream.write_all(b"GET /lichess HTTP/1.1\r\nHost: loc").unwrap();
    }
    assert_eq!(server.get("/lichess").status, 200);
    // Finally, the server closes the idle connections.
    let began = Instant::now();
    let mut rest = Vec::new();
    let _ = idle[0].read_to_end(&mut rest);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn a_thousand_connections_block_nobody() {
    let server = Serving::famous(&[]);
    let connections: Vec<_> = (0..1000).map(|_| TcpStream::connect(&server.address)).collect();
    assert!(connections.iter().all(Result::is_ok));
    // They come from the same address, so the server waits a little before it closes them.
    std::thread::sleep(Duration::from_millis(1200));
    for _ in 0..50 {
        assert_eq!(server.get("/lichess").status, 200);
    }
    let figures = server.get("/metrics").body;
    let closed = figures.lines().find_map(|line| line.strip_prefix("pgndex_connections_closed_total "));
    assert!(closed.expect("a metric").parse::<u64>().expect("a number") >= 50, "{figures}");
    assert!(figures.contains("pgndex_connections 512\n"), "{figures}");
}

#[test]
fn an_address_with_all_slots_yields_to_others_at_once() {
    let server = Limited::famous(|options| options.connections = 16);
    let mut crowd: Vec<_> = (0..16).map(|_| server.connect()).collect();
    for number in 0..10 {
        let other = server.connect_from(Ipv4Addr::new(127, 0, 0, 2));
        assert_eq!(request_on(other, "/lichess").status, 200, "{number}");
        crowd.push(server.connect());
    }
    assert!(is_closed(&mut crowd[0]), "the longest idle connection is closed");
    assert!(!is_closed(crowd.last_mut().expect("a connection")));
}

#[test]
fn busy_connections_are_not_closed_for_others() {
    let server = Limited::famous(|options| {
        options.connections = 8;
        options.sql_timeout = Duration::from_secs(2);
    });
    let statement = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
    let body = serde_json::json!({ "sql": statement }).to_string();
    let head = format!("POST /api/sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", body.len());
    let mut busy: Vec<_> = (0..8).map(|_| server.connect()).collect();
    for stream in &mut busy {
        stream.write_all(format!("{head}{body}").as_bytes()).expect("sent");
    }
    std::thread::sleep(Duration::from_millis(300));
    let answer = request_on(server.connect_from(Ipv4Addr::new(127, 0, 0, 2)), "/lichess");
    assert_eq!(answer.status, 503);
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    assert!(answer.body.contains("Too many connections"), "{}", answer.body);
    for mut stream in busy {
        let mut start = [0; 12];
        stream.read_exact(&mut start).expect("an answer");
        assert_eq!(&start, b"HTTP/1.1 504");
    }
}

#[test]
fn answered_connections_are_closed_for_others() {
    let server = Limited::famous(|options| options.connections = 8);
    for target in ["/lichess", "/page/app.js", "/health", "/api/export.csv?limit=3"] {
        let mut answered: Vec<_> = (0..8).map(|_| server.connect()).collect();
        for stream in &mut answered {
            let request = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n");
            stream.write_all(request.as_bytes()).expect("sent");
            stream.read_exact(&mut [0; 12]).expect("an answer");
        }
        std::thread::sleep(Duration::from_millis(300));
        let other = server.connect_from(Ipv4Addr::new(127, 0, 0, 2));
        assert_eq!(request_on(other, "/lichess").status, 200, "{target}");
        drop(answered);
        std::thread::sleep(Duration::from_millis(300));
    }
}

#[test]
fn connections_without_a_body_are_closed_too() {
    let server = Limited::famous(|options| options.connections = 8);
    let mut slow: Vec<_> = (0..8).map(|_| server.connect()).collect();
    for stream in &mut slow {
        stream
            .write_all(b"POST /api/sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n")
            .expect("sent");
    }
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(request_on(server.connect_from(Ipv4Addr::new(127, 0, 0, 2)), "/lichess").status, 200);
}

#[test]
fn slow_readers_do_not_block_exports() {
    let server = Limited::start(talkative(), |options| options.reading_time = Duration::from_secs(2));
    // There are more slow readers than threads for exports; each reads a little, again and again.
    let is_over = AtomicBool::new(false);
    let read = |mut stream: TcpStream| {
        stream.write_all(b"GET /api/export.pgn HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
        while !is_over.load(Ordering::Relaxed) && stream.read(&mut [0; 1024]).is_ok_and(|count| count > 0) {
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    let began = Instant::now();
    std::thread::scope(|scope| {
        for stream in (0..8).map(|_| server.connect()) {
            scope.spawn(|| read(stream));
        }
        std::thread::sleep(Duration::from_millis(500));
        let whole = request_on(server.connect(), "/api/export.pgn");
        assert_eq!(whole.status, 200);
        assert!(whole.body.len() > 10 << 20, "{}", whole.body.len());
        // The slow readers would need more than a quarter of an hour for the same amount.
        assert!(began.elapsed() < Duration::from_secs(300), "{:?}", began.elapsed());
        assert!(server.metric("pgndex_slow_readers_total") > 0);
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn requests_that_cannot_be_read_are_logged_and_counted() {
    let server = Serving::famous(&["--log-format", "json"]);
    assert_eq!(server.send(b"GET / HTTP/9.9\r\n\r\n").status, 400);
    let lines = "X: y\r\n".repeat(1000);
    assert_eq!(server.send(format!("GET / HTTP/1.1\r\n{lines}\r\n").as_bytes()).status, 431);
    let figures = server.get("/metrics").body;
    assert!(figures.contains("pgndex_unreadable_total 2\n"), "{figures}");
    assert!(figures.contains("pgndex_answers_total{class=\"4xx\"} 2\n"), "{figures}");
    let log = server.log(3);
    for status in [400, 431] {
        let line = log.iter().find(|line| line["status"] == status).expect("a line");
        assert!(line["problem"].as_str().expect("a text").contains("head of the request"), "{line}");
    }
}

#[test]
fn the_moves_of_the_longest_game_fit_into_a_request() {
    let server = Serving::famous(&[]);
    let moves = |count: usize| {
        ["g1f3", "g8f6", "f3g1", "f6g8"].iter().cycle().take(count).copied().collect::<Vec<_>>()
    };
    // The longest game that the rules allow.
    let answer = server.get(&format!("/lichess?play={}", moves(11_797).join(",")));
    assert_eq!(answer.status, 200, "{}", answer.body);
    let answer = server.get(&format!("/lichess?play={}", moves(12_500).join(",")));
    assert_eq!(
        (answer.status, answer.json()["title"].as_str()),
        (414, Some("address too long")),
        "{}",
        answer.body
    );
    let long = format!("X: {}", "y".repeat(20_000));
    let answer = server.request("GET", "/lichess", &[&long], "");
    assert_eq!(
        (answer.status, answer.json()["title"].as_str()),
        (431, Some("header too long")),
        "{}",
        answer.body
    );
}
