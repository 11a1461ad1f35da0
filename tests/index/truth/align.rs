//! Brings rows of python-chess and games of ours together.

use std::collections::BTreeMap;

use super::corpus::{Corpus, Game, Row};
use super::rules;

/// What came of rows and games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// The same in everything: plies, all six fields of the last FEN, key, result, names.
    Equal,
    /// The same but for the key: a pin forbids the en-passant capture, and Polyglot's key counts it all the same.
    EqualButKey,
    /// The same, but python-chess lost the tags: there is no blank line before them.
    TagsLost,
    /// The same, but python-chess reads two tag pairs on a line as one, with a long name.
    TagsOnALine,
    /// The same but for the result: python-chess does not read `1/2 - 1/2`.
    SpacedResult,
    /// python-chess ends a game at a blank line within its movetext: its rows are the pieces of one game of ours.
    CutAtBlankLine,
    /// Castling rights in an unusual order, which python-chess refuses.
    CastlingOrder,
    /// A variant whose moves we skip.
    Variant,
    /// python-chess passes over `o-o-o` and stumbles over the move after it.
    LowerCaseCastling,
    /// python-chess makes a game of text that belongs to none.
    Junk,
    /// Ours alone: python-chess takes the game for part of an unclosed comment before it.
    Swallowed,
    /// Ours alone: python-chess cannot read a line with the game's tags (and moves).
    UnreadableTags,
    /// Ours alone: a game of nothing but tags, which python-chess takes for tags of the next one.
    OnlyTags,
    /// None of these.
    Unexplained,
}

/// How many rows and games of each class there are, and what could not be explained.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) counts: BTreeMap<Class, (usize, usize)>,
    pub(crate) unexplained: Vec<String>,
}

impl Tally {
    fn add(&mut self, class: Class, rows: usize, games: usize) {
        let count = self.counts.entry(class).or_default();
        *count = (count.0 + rows, count.1 + games);
    }
}

/// Goes through rows and games side by side. The rules are tried in order; where none fits, both sides go on to where three in a
/// row are the same again.
pub(crate) fn align(corpus: &Corpus) -> Tally {
    let (mut rows, mut games) = (&corpus.rows[..], corpus.compared());
    let mut tally = Tally::default();
    // Of a part, the rows of later games are left.
    while !(games.is_empty() && (rows.is_empty() || corpus.is_part)) {
        if let Some((class, row_count, game_count)) = rules::first_that_fits(corpus, rows, games) {
            if std::env::var_os("PGNDEX_TRUTH_LIST").is_some_and(|_| class != Class::Equal) {
                println!("{class:?}");
                rows[..row_count].iter().for_each(|row| println!("    {}", show_row(row)));
                games[..game_count].iter().for_each(|game| println!("    {}", show_game(game)));
            }
            tally.add(class, row_count, game_count);
            (rows, games) = (&rows[row_count..], &games[game_count..]);
            continue;
        }
        let (row_count, game_count) = resynchronise(rows, games);
        tally.unexplained.push("--".to_owned());
        tally.unexplained.extend(rows[..row_count].iter().map(show_row));
        tally.unexplained.extend(games[..game_count].iter().map(show_game));
        tally.add(Class::Unexplained, row_count, game_count);
        (rows, games) = (&rows[row_count..], &games[game_count..]);
    }
    tally
}

fn show_row(row: &Row) -> String {
    let Row { number, plies, fen, result_tag, result_token, error, white, black, .. } = row;
    format!(
        "python row {number}: {plies:?} plies, {fen}, [{result_tag}] {result_token}, {white} - {black}, {error}"
    )
}

fn show_game(game: &Game) -> String {
    let Game { id, start, end, plies, result, white, black, status, fen, .. } = game;
    format!("our game {id} at {start}..{end}: {plies} plies, {fen}, {result}, {white} - {black}, {status}")
}

/// How many rows and games there are before three of each are the same again.
fn resynchronise(rows: &[Row], games: &[Game]) -> (usize, usize) {
    const RUN: usize = 3;
    for distance in 1..5000 {
        for row_count in 0..=distance {
            let game_count = distance - row_count;
            let (Some(rows), Some(games)) = (rows.get(row_count..), games.get(game_count..)) else {
                continue;
            };
            let run = RUN.min(rows.len()).min(games.len());
            let same =
                |(row, game): (&Row, &Game)| rules::same_moves(row, game) && rules::same_names(row, game);
            if (run > 0 || (rows.is_empty() && games.is_empty())) && rows[..run].iter().zip(games).all(same) {
                return (row_count, game_count);
            }
        }
    }
    (rows.len(), games.len())
}
