//! Matches the rows of python-chess with the games of the database.

use std::collections::BTreeMap;

use super::corpus::{Corpus, Game, Row};
use super::rules;

/// How rows and games match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// Everything is the same: plies, all six fields of the last FEN, key, result, names.
    Equal,
    /// Only the key differs: a pin forbids the en-passant capture, but Polyglot's key includes it.
    EqualButKey,
    /// The same, but python-chess lost the tags, because there is no blank line before them.
    TagsLost,
    /// The same, but python-chess reads two tag pairs on one line as one pair with a long name.
    TagsOnALine,
    /// Only the result differs: python-chess does not read `1/2 - 1/2`.
    SpacedResult,
    /// python-chess ends a game at a blank line within its movetext: its rows are parts of one of our games.
    CutAtBlankLine,
    /// The castling rights are in an unusual order, which python-chess rejects.
    CastlingOrder,
    /// A variant whose moves we skip.
    Variant,
    /// python-chess skips `o-o-o`, and then fails at the next move.
    LowerCaseCastling,
    /// python-chess makes a game of text that belongs to no game.
    Junk,
    /// Only we have this game: for python-chess it is part of an unclosed comment before it.
    Swallowed,
    /// Only we have this game: python-chess cannot read a line with its tags (and moves).
    UnreadableTags,
    /// Only we have this game: it has only tags, which python-chess adds to the next game.
    OnlyTags,
    /// None of these.
    Unexplained,
}

/// The number of rows and games of each class, and a description of those without an explanation.
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

/// Compares rows and games side by side. The rules are tried in order; if none applies, both sides advance until three
/// in a row are the same again.
pub(crate) fn align(corpus: &Corpus) -> Tally {
    let (mut rows, mut games) = (&corpus.rows[..], corpus.compared());
    let mut tally = Tally::default();
    // If the collection is only a part, rows of later games remain.
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

/// The number of rows and games to skip until three of each are the same again.
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
