//! The fuzz targets, run on seeds and on mutated seeds: no panic, no hang, bounded memory.
//!
//! `cargo test --release --test heavy fuzz -- --ignored` tries the same inputs each time. `PGNDEX_FUZZ_TIMES`
//! multiplies their number, and `PGNDEX_FUZZ_TARGET` names a single target. An input that fails is kept in a file, and
//! the path is printed.

mod mutate;
mod seeds;
#[path = "../../../fuzz/src/lib.rs"]
#[allow(unreachable_pub)]
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use mutate::Mutator;
use targets::{TARGETS, Target};

/// How often the watcher checks whether a target hangs.
const WATCH: Duration = Duration::from_millis(250);
/// The memory limit of the whole process. Inputs are a few KiB; databases and threads take a few dozen MiB.
const MOST_MEMORY: u64 = 600 << 20;

/// The current input: when it was started, its target, and its bytes.
static CURRENT_INPUT: Mutex<Option<(Instant, &str, Vec<u8>)>> = Mutex::new(None);

/// Writes an input to a file for later analysis.
fn keep(target: &str, input: &[u8]) -> PathBuf {
    let name = format!("pgndex-fuzz-{target}-{}", blake3::hash(input).to_hex().split_at(16).0);
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, input).expect("kept");
    path
}

/// The time limit for one input; after it, the target counts as hanging. The target `index` writes two databases to the
/// disk.
fn patience(target: &str) -> Duration {
    Duration::from_secs(if target == "index" { 60 } else { 20 })
}

/// Starts a thread that ends the process when an input takes too long.
fn watch() {
    static STARTED: std::sync::Once = std::sync::Once::new();
    STARTED.call_once(|| {
        std::thread::spawn(|| {
            loop {
                std::thread::sleep(WATCH);
                let current = CURRENT_INPUT.lock().unwrap();
                if let Some((began, target, input)) =
                    current.as_ref().filter(|(began, target, _)| began.elapsed() > patience(target))
                {
                    let path = keep(target, input);
                    eprintln!("{target} hangs ({:?}) on {}", began.elapsed(), path.display());
                    std::process::exit(101);
                }
            }
        });
    });
}

fn try_input((name, body): Target, input: &[u8]) {
    *CURRENT_INPUT.lock().unwrap() = Some((Instant::now(), name, input.to_vec()));
    let result = catch_unwind(AssertUnwindSafe(|| body(input)));
    *CURRENT_INPUT.lock().unwrap() = None;
    if result.is_err() {
        panic!("{name} fails on {}", keep(name, input).display());
    }
}

/// The peak memory of the process, if the system reports it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok().map(|kib: u64| kib << 10)
}

/// How many inputs of each target are tried; they take some seconds.
fn inputs_of(target: &str) -> u64 {
    match target {
        "lexer" => 2_000_000,
        "fen" => 4_000_000,
        "index" => 400,
        _ => 300_000,
    }
}

/// Tries `times` times the usual number of inputs of the targets.
fn fuzz(times: f64, only: Option<&str>) {
    watch();
    for target in TARGETS.into_iter().filter(|(name, _)| only.is_none_or(|only| only == *name)) {
        let seeds = seeds::of(target.0);
        let began = Instant::now();
        let mut mutator = Mutator::new(seeds.clone());
        let inputs = (inputs_of(target.0) as f64 * times).ceil() as u64;
        for _ in 0..inputs {
            try_input(target, &mutator.next());
        }
        println!(
            "{}: {} seeds, {inputs} inputs in {:.1} s",
            target.0,
            seeds.len(),
            began.elapsed().as_secs_f64()
        );
        assert!(!seeds.is_empty());
    }
    match peak_memory() {
        Some(peak) => assert!(peak < MOST_MEMORY, "{} MiB of memory", peak >> 20),
        None => println!("the system does not report the memory used"),
    }
}

#[test]
fn properties_hold_for_all_seeds() {
    watch();
    for target in TARGETS.into_iter().filter(|(name, _)| *name != "index") {
        seeds::of(target.0).iter().for_each(|seed| try_input(target, seed));
    }
    fuzz(0.02, None);
}

#[test]
#[ignore = "takes a minute"]
fn properties_hold_for_mutated_seeds() {
    let times = std::env::var("PGNDEX_FUZZ_TIMES").ok().and_then(|times| times.parse().ok());
    fuzz(times.unwrap_or(1.0), std::env::var("PGNDEX_FUZZ_TARGET").ok().as_deref());
}
