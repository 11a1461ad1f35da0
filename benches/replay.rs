//! Reading games on one thread: tokens, replay with a key for every ply, replay with key and canonical FEN.
//!
//! Inputs are the synthetic sample and, if available in `../shared/corpora` or in the folder `PGNDEX_SHARED`, a real collection.
//! Each benchmark checks its results.

mod common;

use std::hint::black_box;

use common::{Corpus, standard_corpora};
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use pgndex::board::{FenText, MAX_CANONICAL_FEN, Position};
use pgndex::pgn::{Reader, Token};

fn main() {
    divan::main();
}

/// Calls `begin` for each game and `each` for each move. Returns the number of moves.
fn for_each_move<S>(text: &[u8], state: &mut S, begin: impl Fn(&mut S), each: impl Fn(&mut S, &[u8])) -> u64 {
    let mut reader = Reader::new(text);
    let (mut tags, mut problems) = (Vec::new(), Vec::new());
    let mut plies = 0;
    while reader.next_game(&mut tags, &mut problems) {
        begin(state);
        loop {
            match reader.next_token() {
                Token::Move(san) => {
                    each(state, san);
                    plies += 1;
                }
                Token::End | Token::Result(_) => break,
                _ => {}
            }
        }
    }
    plies
}

/// Measures `work`, which returns the number of plies and, if it computes keys, their XOR.
fn measure(bencher: Bencher, corpus: &Corpus, work: impl Fn(&[u8]) -> (u64, Option<u64>)) {
    let counted = bencher.counter(ItemsCount::new(corpus.plies)).counter(BytesCount::new(corpus.text.len()));
    counted.bench_local(|| {
        let (plies, keys) = work(&corpus.text);
        assert_eq!((plies, keys.unwrap_or(corpus.keys)), (corpus.plies, corpus.keys));
    });
}

#[divan::bench(args = standard_corpora(), sample_count = 10)]
fn tokenise(bencher: Bencher, corpus: &Corpus) {
    measure(bencher, corpus, |text| {
        let plies = for_each_move(
            text,
            &mut (),
            |()| {},
            |(), san| {
                black_box(san);
            },
        );
        (plies, None)
    });
}

#[divan::bench(args = standard_corpora(), sample_count = 10)]
fn replay_with_key(bencher: Bencher, corpus: &Corpus) {
    let start = Position::start();
    measure(bencher, corpus, |text| {
        let mut state = (start.clone(), 0);
        let plies = for_each_move(
            text,
            &mut state,
            |(position, _)| position.clone_from(&start),
            |(position, keys), san| {
                position.play_san(san).expect("a legal move");
                *keys ^= position.key().0;
            },
        );
        (plies, Some(state.1))
    });
}

#[divan::bench(args = standard_corpora(), sample_count = 10)]
fn replay_with_key_and_fen(bencher: Bencher, corpus: &Corpus) {
    let start = Position::start();
    let placement = FenText::new(&start);
    measure(bencher, corpus, |text| {
        let mut state = (start.clone(), placement.clone(), [0; MAX_CANONICAL_FEN], 0);
        let plies = for_each_move(
            text,
            &mut state,
            |(position, fen, ..)| {
                position.clone_from(&start);
                fen.clone_from(&placement);
            },
            |(position, fen, buffer, keys), san| {
                let code = position.play_san(san).expect("a legal move");
                fen.update(position, code);
                black_box(fen.write_at_end(position, buffer));
                *keys ^= position.key().0;
            },
        );
        (plies, Some(state.3))
    });
}
