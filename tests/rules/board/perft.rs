//! Perft: leaf positions at each depth, as counted by another program.

use std::sync::Mutex;
use std::time::Instant;

use pgndex::board::Position;

use super::common::{position, rows};

/// Rows with more leaf positions are left to the slow test.
const QUICK: u64 = 5_000_000;

/// The number of sequences of `depth` legal half-moves.
fn perft(position: &Position, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let mut moves = Vec::with_capacity(64);
    position.pseudo_legal_moves(&mut moves);
    let mut nodes = 0;
    for code in moves {
        let mut next = position.clone();
        if next.make(code).is_ok() {
            nodes += perft(&next, depth - 1);
        }
    }
    nodes
}

/// Counts the rows on all processors, the largest first.
fn count(rows: Vec<(usize, Vec<String>)>) {
    let mut rows: Vec<(usize, String, u32, u64)> = rows
        .into_iter()
        .map(|(line, row)| (line, row[0].clone(), row[1].parse().unwrap(), row[2].parse().unwrap()))
        .collect();
    assert!(!rows.is_empty());
    rows.sort_by_key(|row| row.3);
    let total: u64 = rows.iter().map(|row| row.3).sum();
    let (queue, started) = (Mutex::new(rows), Instant::now());
    let workers = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap().pop();
                    let Some((line, fen, depth, expected)) = next else { break };
                    assert_eq!(perft(&position(&fen), depth), expected, "line {line}: {fen} depth {depth}");
                }
            });
        }
    });
    println!("{total} leaf positions in {:.1} s", started.elapsed().as_secs_f64());
}

fn is_quick(row: &[String]) -> bool {
    row[2].parse::<u64>().unwrap() <= QUICK
}

#[test]
fn quick_perft() {
    let rows: Vec<_> = rows("perft.tsv").into_iter().filter(|(_, row)| is_quick(row)).collect();
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    assert!(
        rows.iter().any(|(_, row)| row[0] == start && row[1] == "5"),
        "the quick rows include depth 5 from the start position"
    );
    count(rows);
}

#[test]
#[ignore = "430 million leaf positions: ten seconds on two fast cores"]
fn deep_perft() {
    count(rows("perft.tsv").into_iter().filter(|(_, row)| !is_quick(row)).collect());
}
