//! The configuration of the reverse proxy in the documentation.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::needs::{has_program, python_that_runs};
use crate::server::serving::{Serving, talkative};

const DOCUMENT: &str = include_str!("../../docs/serve.md");
const TOKEN: &str = "correct-horse-battery";

/// A program that is killed at the end of the test.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill(); // It may have ended already.
        let _ = self.0.wait();
    }
}

/// Creates a certificate for a host.
fn certify(directory: &Path, host: &str) {
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "2",
        ])
        .args(["-subj", &format!("/CN={host}"), "-addext", &format!("subjectAltName=DNS:{host}")])
        .args(["-keyout", "key.pem", "-out", "certificate.pem"])
        .current_dir(directory)
        .output()
        .expect("openssl runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// The parts of an nginx configuration around a server.
fn configuration(directory: &Path, server: &str) -> String {
    let directory = directory.display();
    let kept = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let kept = kept.map(|name| format!("{name}_temp_path {directory}/{name};")).join("\n");
    format!(
        "daemon off;\nmaster_process off;\npid {directory}/nginx.pid;\nerror_log {directory}/nginx.log;\nevents {{}}\nhttp {{\naccess_log off;\n{kept}\n{server}}}\n"
    )
}

#[test]
fn all_requests_pass_the_documented_proxy() {
    let Some(python) = python_that_runs("import ssl, gzip") else { return };
    if !has_program("nginx") || !has_program("openssl") {
        return;
    }
    let example =
        DOCUMENT.split("```nginx\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a server");
    let host = "chess.example.org";
    let directory = talkative();
    fs::write(directory.path().join("token.txt"), TOKEN).expect("written");
    let server =
        Serving::start(directory, &["games.db"], &["--allow-host", host, "--token-file", "token.txt"]);
    let directory = server.directory.path();
    certify(directory, host);
    let port =
        TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
    let mut text = example.to_owned();
    for (documented, here) in [
        ("listen 443 ssl", format!("listen 127.0.0.1:{port} ssl")),
        ("/etc/ssl/chess.example.org.pem", "certificate.pem".to_owned()),
        ("/etc/ssl/chess.example.org.key", "key.pem".to_owned()),
        ("http://127.0.0.1:9002", format!("http://{}", server.address)),
    ] {
        assert!(text.contains(documented), "{documented}");
        text = text.replace(documented, &here);
    }
    fs::write(server.path("nginx.conf"), configuration(directory, &text)).expect("written");
    let nginx = Command::new("nginx")
        .args(["-e", "nginx.log", "-c"])
        .arg(server.path("nginx.conf"))
        .current_dir(directory)
        .spawn();
    let mut nginx = Ending(nginx.expect("nginx starts"));
    let listens = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    let ended = nginx.0.try_wait().expect("a process");
    assert!(
        listens && ended.is_none(),
        "{}",
        fs::read_to_string(server.path("nginx.log")).unwrap_or_default()
    );
    let status = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/proxy.py"))
        .args([&port.to_string(), host, &server.address, TOKEN])
        .arg(server.path("certificate.pem"))
        .stderr(Stdio::inherit())
        .status()
        .expect("the script runs");
    assert!(status.success(), "{}", fs::read_to_string(server.path("nginx.log")).unwrap_or_default());
}
