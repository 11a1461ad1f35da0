//! Hostile text, read by the program itself: time, memory and result.
//!
//! The sizes are small here; `hostile_text_at_full_size` (`cargo test --test heavy robust -- --ignored`) uses the same
//! kinds of text in the sizes that occur in practice.

#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The option `--memory` of the program, and the limit of the memory that it may use.
const MEMORY: u64 = 64 << 20;
const MOST_MEMORY: u64 = MEMORY + (300 << 20);

/// A text: its name, the function that writes it, and the expected result.
struct Hostile {
    name: &'static str,
    write: fn(&mut dyn Write, usize) -> std::io::Result<()>,
    /// The expected number of games and plies for a size.
    expected: fn(usize) -> (i64, i64),
    /// The sizes in the small and in the large test; each text has its own unit.
    sizes: [usize; 2],
}

const HEAD: &str = "[Event \"a\"]\n[Result \"*\"]\n\n";
const NEXT: &str = "\n\n[Event \"b\"]\n[Result \"*\"]\n\n1. d4 d5 *\n";
const SHUFFLE: [&str; 4] = ["Nf3", "Nf6", "Ng1", "Ng8"];

/// Writes `before`, a piece `count` times, and `after`.
fn repeat(out: &mut dyn Write, before: &str, piece: &[u8], count: usize, after: &str) -> std::io::Result<()> {
    let block = piece.repeat((1 << 16) / piece.len() + 1);
    let (blocks, rest) = (count / (block.len() / piece.len()), count % (block.len() / piece.len()));
    out.write_all(before.as_bytes())?;
    (0..blocks).try_for_each(|_| out.write_all(&block))?;
    out.write_all(&block[..rest * piece.len()])?;
    out.write_all(after.as_bytes())
}

/// Pseudo-random bytes, the same in every run.
fn noise(out: &mut dyn Write, count: usize) -> std::io::Result<()> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..count / 8 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        out.write_all(&state.to_le_bytes())?;
    }
    Ok(())
}

fn shuffle(out: &mut dyn Write, plies: usize) -> std::io::Result<()> {
    (0..plies).try_for_each(|ply| write!(out, "{} ", SHUFFLE[ply % 4]))
}

/// Writes many games with the given line ending.
fn line_ends(out: &mut dyn Write, games: usize, end: &str) -> std::io::Result<()> {
    let game = format!("{HEAD}1. e4 e5 *\n\n").replace('\n', end);
    repeat(out, "", game.as_bytes(), games, "")
}

const TEXTS: [Hostile; 21] = [
    Hostile {
        name: "LF",
        write: |out, n| line_ends(out, n, "\n"),
        expected: |n| (n as i64, 2 * n as i64),
        sizes: [1000, 400_000],
    },
    Hostile {
        name: "CRLF",
        write: |out, n| line_ends(out, n, "\r\n"),
        expected: |n| (n as i64, 2 * n as i64),
        sizes: [1000, 400_000],
    },
    Hostile {
        name: "CR",
        write: |out, n| line_ends(out, n, "\r"),
        expected: |n| (n as i64, 2 * n as i64),
        sizes: [1000, 400_000],
    },
    Hostile {
        name: "NUL bytes",
        write: |out, n| repeat(out, &format!("{HEAD}1. e4"), b"\0", n, &format!("e5 *{NEXT}")),
        expected: |_| (2, 4),
        sizes: [100_000, 100_000_000],
    },
    Hostile {
        name: "a line that is one comment",
        write: |out, n| repeat(out, &format!("{HEAD}1. e4 {{"), b"word ", n, &format!("}} e5 *{NEXT}")),
        expected: |_| (2, 4),
        sizes: [100_000, 20_000_000],
    },
    Hostile {
        name: "a line that is one word",
        write: |out, n| repeat(out, &format!("{HEAD}1. e4 "), b"w", n, &format!(" e5 *{NEXT}")),
        expected: |_| (2, 4),
        sizes: [100_000, 100_000_000],
    },
    Hostile {
        name: "a line that is one tag value",
        write: |out, n| repeat(out, "[Event \"", b"v", n, &format!("\"]\n\n1. e4 e5 *{NEXT}")),
        expected: |_| (2, 4),
        sizes: [100_000, 100_000_000],
    },
    Hostile {
        name: "very many tags",
        write: |out, n| repeat(out, "", b"[A \"b\"]\n", n, &format!("\n1. e4 e5 *{NEXT}")),
        expected: |_| (2, 4),
        sizes: [10_000, 10_000_000],
    },
    Hostile {
        name: "nested variations",
        write: |out, n| {
            repeat(out, &format!("{HEAD}1. e4 "), b"(", n, "")?;
            repeat(out, "", b")", n, &format!("e5 *{NEXT}"))
        },
        expected: |_| (2, 4),
        sizes: [100_000, 50_000_000],
    },
    Hostile {
        name: "variations that are not closed",
        write: |out, n| repeat(out, &format!("{HEAD}1. e4 e5 "), b"(", n, NEXT),
        expected: |_| (2, 4),
        sizes: [100_000, 100_000_000],
    },
    Hostile {
        name: "variations before the first moves that are not closed",
        write: |out, n| repeat(out, "", b"( e4 1-0 ", n, ""),
        expected: |n| (n as i64, n as i64),
        sizes: [10_000, 400_000],
    },
    Hostile {
        name: "a line that is games",
        write: |out, n| repeat(out, "", b"e4 1-0 ", n, ""),
        expected: |n| (n as i64, n as i64),
        sizes: [10_000, 400_000],
    },
    Hostile {
        name: "damaged tags",
        write: |out, n| repeat(out, "[A \"b\"]\n", b"[A(b \"c\"]\n", n, &format!("\n1. e4 e5 *{NEXT}")),
        expected: |_| (2, 4),
        sizes: [10_000, 9_000_000],
    },
    Hostile {
        name: "closing brackets",
        write: |out, n| repeat(out, &format!("{HEAD}1. e4 "), b")}", n, &format!("e5 *{NEXT}")),
        expected: |_| (2, 4),
        sizes: [100_000, 20_000_000],
    },
    Hostile {
        name: "a long game",
        write: |out, n| {
            out.write_all(HEAD.as_bytes())
                .and_then(|()| shuffle(out, n))
                .and_then(|()| out.write_all(NEXT.as_bytes()))
        },
        expected: |n| (2, n as i64 + 2),
        sizes: [80_000, 1_000_000],
    },
    Hostile {
        name: "comments that are not closed",
        write: |out, n| repeat(out, "", format!("{HEAD}1. e4 e5 {{ open\n\n").as_bytes(), n, ""),
        expected: |n| (n as i64, 2 * n as i64),
        sizes: [1000, 400_000],
    },
    Hostile {
        name: "tags that are not closed",
        write: |out, n| repeat(out, "", b"[Event \"a\n[Site \"b\"]\n\n1. e4 e5 *\n\n", n, ""),
        expected: |n| (n as i64, 2 * n as i64),
        sizes: [1000, 400_000],
    },
    Hostile {
        name: "games cut off by the next",
        write: |out, n| repeat(out, "", b"[Event \"a\"]\n\n1. e4 e5 2. N", n, "f3 *\n"),
        expected: |n| (n as i64, 2 * n as i64 + 1),
        sizes: [1000, 400_000],
    },
    Hostile {
        name: "byte order marks",
        write: |out, n| repeat(out, "", b"\xef\xbb\xbf[Event \"a\"]\n\n1. e4 e5 *\n\n", n, ""),
        expected: |n| (n as i64, 2 * n as i64),
        sizes: [1000, 400_000],
    },
    Hostile {
        name: "noise between games",
        write: |out, n| {
            write!(out, "{HEAD}1. e4 e5 *\n\n")?;
            noise(out, n)?;
            out.write_all(NEXT.as_bytes())
        },
        expected: |_| (-1, -1),
        sizes: [800_000, 100_000_000],
    },
    Hostile {
        name: "blank lines",
        write: |out, n| repeat(out, &format!("{HEAD}1. e4"), b"\n ", n, &format!("e5 *{NEXT}")),
        expected: |_| (2, 4),
        sizes: [100_000, 50_000_000],
    },
];

/// Runs the program on a file. Returns its exit status, its peak memory, and its duration.
fn index(input: &Path, target: &Path) -> (i32, u64, Duration) {
    let started = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_pgndex"))
        .args(["index", "--quiet", "--overwrite", "--threads", "2", "--memory", &MEMORY.to_string()])
        .args([target, input])
        .stderr(Stdio::null())
        .spawn()
        .expect("the program");
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    loop {
        // The kernel keeps the maximum itself, so only an increase in the last moments can be missed.
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        most = most.max(kilobytes.unwrap_or(0) << 10);
        if let Some(status) = child.try_wait().expect("a child") {
            return (status.code().unwrap_or(-1), most, started.elapsed());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn check_texts(size: usize, most_time: Duration) {
    let place = tempfile::tempdir().expect("a directory");
    let (input, target) = (place.path().join("in.pgn"), place.path().join("out.db"));
    let mut wrong = Vec::new();
    for text in &TEXTS {
        let size = text.sizes[size];
        let mut out = BufWriter::new(File::create(&input).expect("a file"));
        (text.write)(&mut out, size).and_then(|()| out.flush()).expect("written");
        drop(out);
        let (status, memory, elapsed) = index(&input, &target);
        let count = |sql: &str| -> i64 {
            let database = rusqlite::Connection::open(&target).expect("a database");
            database.query_row(sql, [], |row| row.get(0)).expect("a number")
        };
        let found = if matches!(status, 0 | 3) {
            (count("SELECT count(*) FROM game"), count("SELECT ifnull(sum(ply_count), 0) FROM game"))
        } else {
            (0, 0)
        };
        let reported =
            format!("{}: status {status}, {found:?}, {} MiB, {elapsed:?}", text.name, memory >> 20);
        println!("{reported}");
        let expected = (text.expected)(size);
        if !matches!(status, 0 | 3)
            || (expected.0 >= 0 && found != expected)
            || found.0 < 1
            || memory > MOST_MEMORY
            || elapsed > most_time
        {
            wrong.push(format!("{reported}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn hostile_text() {
    check_texts(0, Duration::from_secs(30));
}

#[test]
#[ignore = "writes files of 100 MB"]
fn hostile_text_at_full_size() {
    check_texts(1, Duration::from_secs(60));
}
