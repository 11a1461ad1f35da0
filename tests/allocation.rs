//! Reading and replaying allocate nothing per token, ply or game.
//!
//! This program has one test only, because the counter `ALLOCATIONS` covers the whole process.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use pgndex::board::{FenText, MAX_CANONICAL_FEN, MoveCode, Position};
use pgndex::index::{Duplicates, IndexOptions, Progress, index};
use pgndex::pgn::{Reader, Token};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The allocations of this thread alone: the test harness has another thread, which may allocate at any time.
    static OWN_ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    // When a thread ends, its counter may already have been destroyed.
    let _ = OWN_ALLOCATIONS.try_with(|own| own.set(own.get() + 1));
}

// SAFETY: all calls are forwarded to the system's allocator unchanged; the counter does not affect them.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller guarantees what `System` requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller guarantees what `System` requires.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees what `System` requires.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations() -> u64 {
    ALLOCATIONS.load(Ordering::Relaxed)
}

const GAMES: &str = include_str!("../examples/famous-games.pgn");
const ANNOTATED: &str = include_str!("data/annotated.pgn");
/// Comments, NAGs, variations, lax moves, warnings of the lexer, a start position.
const ODD: &str = "[Event \"odd\"]\n[White \"Nobody\"]\n\n1. e4 {a} e5 $1 (1... c5 (1... e6 {)})) 2. Ng1-f3 ; rest\n2... ) Nb8c6 \
    3. \u{2657}b5 a6 -- 0-1\n\n";

/// Reads and replays all games, writing keys and FENs. Returns the number of games and of plies.
fn replay(text: &[u8], mut after: impl FnMut(usize)) -> (usize, usize) {
    let start = Position::start();
    let start_text = FenText::new(&start);
    let mut reader = Reader::new(text);
    let (mut tags, mut problems) = (Vec::new(), Vec::new());
    let mut codes: Vec<MoveCode> = Vec::new();
    let mut buffer = [0; MAX_CANONICAL_FEN];
    let (mut games, mut plies) = (0, 0);
    while reader.next_game(&mut tags, &mut problems) {
        for tag in &tags {
            black_box(tag.text());
        }
        let mut position = start.clone();
        codes.clear();
        loop {
            match reader.next_token() {
                Token::Move(token) => {
                    let code = position.resolve(token).expect("a legal move");
                    codes.push(position.make(code).expect("a legal move"));
                }
                Token::End => break,
                _ => {}
            }
        }
        let (mut position, mut placement) = (start.clone(), start_text.clone());
        for &code in &codes {
            position.make(code).expect("a legal move");
            placement.update(&position, code);
            black_box((placement.write_at_end(&position, &mut buffer), position.key()));
        }
        games += 1;
        plies += codes.len();
        after(games);
    }
    (games, plies)
}

/// Returns the number of allocations of a complete import of `copies` copies of the games, in this process.
fn run(copies: usize) -> u64 {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("in.pgn");
    // Of the two annotated games, only the one without a set-up. Its illegal move is replaced, because formatting a
    // problem would allocate memory.
    let annotated =
        ANNOTATED.split_once("[Event \"ChessBase\"]").expect("two games").0.replace("Ke9", "exd4");
    std::fs::write(&path, [GAMES, &annotated].concat().repeat(copies)).expect("written");
    let memory = 1 << 30;
    let duplicates = Duplicates::Keep;
    let options = IndexOptions { threads: 1, memory, duplicates, ..IndexOptions::default() };
    let before = allocations();
    let summary =
        index(&directory.path().join("out.db"), &[path], &options, &Progress::default()).expect("indexed");
    assert_eq!(summary.games, 54 * copies as u64);
    allocations() - before
}

#[test]
fn nothing_is_allocated_per_token_ply_or_game() {
    let text = [GAMES, ODD].concat().repeat(40);
    let mut before = 0;
    let (games, plies) = replay(text.as_bytes(), |games| {
        if games == 60 {
            before = OWN_ALLOCATIONS.get();
        }
    });
    assert_eq!((games, plies), (40 * 54, 40 * (3235 + 7)));
    assert_eq!(OWN_ALLOCATIONS.get() - before, 0, "{games} games, {plies} plies");

    // The cost of additional games in a complete import. The first games already allocate names and buffers; what
    // remains are the blocks that hold occurrences.
    let (some, more) = (run(100), run(400));
    let plies = 300 * (3235 + 9);
    let per_ply = more.saturating_sub(some) as f64 / f64::from(plies);
    println!("{some} allocations, then {per_ply:.4} per ply");
    assert!(per_ply < 0.002, "{per_ply} allocations per ply");
}
