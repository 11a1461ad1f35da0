//! Finds games: all games that pass a filter, those that reached a position, those with positions that match
//! a description, or those with the positions nearest to a position. Visits the hits one by one, counts them,
//! and finds the reason if there are none.

use serde::Serialize;

use crate::board::{Position, PositionDistance};
use crate::id::{GameId, Ply};
use crate::query::error::{DamagedGame, Result};
use crate::query::name::{SimilarNames, similar_names};
use crate::query::position::{PositionQuery, san, side};
use crate::query::sequence::PositionSequence;
use crate::store::{
    self, Database, Hit, HitCount, HitOrder, Lines, Listing, Nearest, Scan, Search, Selection,
};

/// The maximum number of games that a search for the nearest positions reads, if the number of hits is
/// limited. Games that possibly have a position with distance 0 do not count.
const LOOKED_AT: u32 = 2_500;

const NONE: HitCount = HitCount::Exact { occurrences: 0, games: 0 };

/// The target of a search.
#[derive(Clone, Debug)]
pub enum FindTarget {
    /// Games, regardless of positions.
    Games,
    /// A position.
    Position(Box<PositionQuery>),
    /// Positions that match a description.
    Sequence(Box<PositionSequence>),
    /// The positions nearest to a position, as measured by [`PositionDistance`].
    Like(Box<PositionQuery>),
}

/// A query for games.
///
/// The target determines the hits. For games, each game with positions has one hit: its first position. For a
/// position, each occurrence in a main line is a hit and, if variations are searched, each occurrence in a
/// variation. For a sequence, each game that completes it has one hit: the position with which the last step
/// begins when the game first completes the sequence. Variations count only if the main line does not complete
/// the sequence. For the nearest positions, only main lines are searched: each game has one hit, and the hits
/// are in ascending order of their distance.
#[derive(Clone, Copy, Debug)]
pub struct FindQuery<'a> {
    /// The database.
    pub database: &'a Database,
    /// The target of the search.
    pub target: &'a FindTarget,
    /// The lines to search; ignored for the nearest positions.
    pub lines: Lines,
    /// The games to search.
    pub selection: &'a Selection,
    /// The order of the hits; ignored for the nearest positions.
    pub order: HitOrder,
    /// The maximum number of hits; `None`: all.
    pub limit: Option<u32>,
    /// How many hits to skip first.
    pub offset: u32,
}

/// Counts of the hits that were visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The number of hits.
    pub occurrences: u64,
    /// The number of games with a hit.
    pub games: u64,
    last: Option<GameId>,
    /// Whether the search found a hit beyond the maximum number.
    is_more: bool,
    /// For the nearest positions: a lower bound of the distances in games that were not read, because the
    /// search reached its maximum number of games. A hit with a greater distance is possibly not one of the
    /// nearest. `None` if there are no such games.
    pub unseen: Option<u32>,
}

impl Shown {
    /// Whether the search found a hit beyond the maximum number. Always `false` in a search for a position in
    /// the main lines of all games: [`FindQuery::total`] counts all hits, so the search does not look for one
    /// more.
    #[must_use]
    pub const fn is_more(&self) -> bool {
        self.is_more
    }

    fn count(&mut self, hit: &Hit) {
        self.occurrences += 1;
        // In every order, the hits of a game are consecutive.
        self.games += u64::from(self.last.replace(hit.game.game) != Some(hit.game.game));
    }
}

/// The number of hits in an answer, and the number of all hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Total {
    /// Number of hits in this answer. A game can have several.
    pub occurrences: u64,
    /// Number of different games among these hits.
    pub games: u64,
    /// Number of all hits of the query.
    pub all: AllHits,
    /// Whether the query has more hits after those of this answer.
    pub is_more: bool,
}

/// The number of all hits of a query, regardless of limit and offset, if it can be computed quickly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AllHits {
    /// The answer contains all hits.
    Shown,
    /// The exact numbers of hits and games.
    Exact {
        /// Number of all hits.
        occurrences: u64,
        /// Number of games with a hit.
        games: u64,
    },
    /// The number of games with a hit. In a search for a position, a game can have several hits.
    Games(u64),
    /// A lower bound for the number of games with a hit.
    AtLeast(u64),
    /// The number is not known.
    Unknown,
}

/// The reason why a query has no hits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoHits {
    /// No game of the database reached the position.
    NotReached {
        /// Canonical FEN of the position: the first four fields.
        fen: String,
        /// How far games followed the line that leads to the position; `null` if the position was given by
        /// fewer than two moves.
        line: Option<LineMatch>,
    },
    /// Games reached the position, but none of them passes the filters.
    FilteredOut {
        /// Number of games that reached the position, without filters.
        reached: HitCount,
        /// Names in the filters that do not occur in the database.
        unknown_names: Vec<SimilarNames>,
    },
    /// Games reached the position and pass the filters, but the offset skips all of them.
    HitsSkipped {
        /// Number of games that reached the position, without filters.
        reached: HitCount,
        /// Number of hits to skip.
        offset: u32,
        /// Names in the filters that do not occur in the database.
        unknown_names: Vec<SimilarNames>,
    },
    /// Games pass the filters, but the offset skips all of them.
    AllSkipped {
        /// Number of games that pass the filters.
        games: u64,
        /// Number of games to skip.
        offset: u32,
    },
    /// No game passes the filters.
    NoGame {
        /// Names in the filters that do not occur in the database.
        unknown_names: Vec<SimilarNames>,
    },
    /// No game that passes the filters has positions that match the description or, in a search for the
    /// nearest positions, any positions.
    NoneFits {
        /// Names in the filters that do not occur in the database.
        unknown_names: Vec<SimilarNames>,
    },
    /// Games that pass the filters have hits, but the offset skips all of them.
    MatchesSkipped {
        /// Number of games to skip.
        offset: u32,
    },
}

/// How far games followed a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LineMatch {
    /// No game reached the position after the first move.
    Nowhere,
    /// Games reached a position of the line, but no game reached a later one.
    To {
        /// Number of half-moves of the line up to that position.
        moves: usize,
        /// Number of games that reached that position.
        reached: HitCount,
    },
}

impl FindQuery<'_> {
    /// Passes the hits to `visit` until it returns `false`.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn visit(&self, mut visit: impl FnMut(&Hit) -> bool) -> store::Result<Shown> {
        self.visit_dyn(&mut visit)
    }

    fn visit_dyn(&self, visit: &mut dyn FnMut(&Hit) -> bool) -> store::Result<Shown> {
        let mut shown = Shown::default();
        let see = &mut |hit: Hit| {
            if self.limit.is_some_and(|limit| shown.occurrences == u64::from(limit)) {
                shown.is_more = true;
                return false;
            }
            shown.count(&hit);
            visit(&hit)
        };
        match self.target {
            FindTarget::Games => {
                let Self { selection, order, offset, .. } = *self;
                let listing = Listing { selection, order, limit: self.one_more(), offset };
                self.database.list_games(&listing, see)?;
            }
            FindTarget::Position(query) => {
                let fen = query.position.canonical_fen();
                let search = self.search(query, &fen)?;
                // If the hits will not be counted, search for one more hit to find out whether there are
                // more.
                let limit = if is_counted(&search) { self.limit } else { self.one_more() };
                self.database.visit_hits(&Search { limit, ..search }, see)?;
            }
            FindTarget::Sequence(sequence) => self.database.scan(&self.scan(), &**sequence, see)?,
            FindTarget::Like(query) => {
                let nearest = Nearest {
                    to: &PositionDistance::to(&query.position),
                    selection: self.selection,
                    limit: self.one_more(),
                    offset: self.offset,
                    most_games: self.limit.map(|_| LOOKED_AT),
                };
                let unseen = self.database.nearest(&nearest, see)?;
                shown.unseen = unseen;
            }
        }
        Ok(shown)
    }

    fn one_more(&self) -> Option<u32> {
        self.limit.and_then(|limit| limit.checked_add(1))
    }

    fn search<'s>(&'s self, query: &PositionQuery, fen: &'s str) -> store::Result<Search<'s>> {
        let key = query.position.key();
        // Hits can be counted from stored data only in main lines. If variations are to be searched but none
        // reaches the position, a search of the main lines finds the same hits.
        let in_variations = self.lines == Lines::All && self.database.has_in_variations(key)?;
        let lines = if in_variations { Lines::All } else { Lines::Main };
        let Self { selection, order, limit, offset, .. } = *self;
        Ok(Search { key, fen, lines, selection, order, limit, offset })
    }

    fn scan(&self) -> Scan<'_> {
        let Self { lines, selection, order, offset, .. } = *self;
        Scan { lines, selection, order, limit: self.one_more(), offset }
    }

    /// The number of hits in an answer, and the number of all hits.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn total(&self, shown: &Shown) -> store::Result<Total> {
        let Shown { occurrences, games, is_more: saw_more, .. } = *shown;
        let total = |all, is_more| Total { occurrences, games, all, is_more };
        let query = match self.target {
            FindTarget::Position(query) => query,
            FindTarget::Games | FindTarget::Sequence(_) | FindTarget::Like(_)
                if !saw_more && self.offset == 0 =>
            {
                return Ok(total(AllHits::Shown, false));
            }
            FindTarget::Games => {
                let games = self.database.count_games_of(self.selection)?;
                return Ok(total(AllHits::Exact { occurrences: games, games }, saw_more));
            }
            FindTarget::Like(_) => return Ok(total(AllHits::Unknown, saw_more)),
            FindTarget::Sequence(sequence) => {
                let all = self.database.count_scanned(&self.scan(), &**sequence)?;
                return Ok(total(all.map_or(AllHits::Unknown, AllHits::Games), saw_more));
            }
        };
        let is_end = self.limit.is_none_or(|limit| occurrences < u64::from(limit));
        if is_end && self.offset == 0 {
            return Ok(total(AllHits::Shown, false));
        }
        let fen = query.position.canonical_fen();
        let search = self.search(query, &fen)?;
        let is_more = !is_end && (saw_more || is_counted(&search));
        Ok(match self.database.count_hits(&search)? {
            HitCount::Exact { occurrences: all, .. } if all == occurrences => total(AllHits::Shown, false),
            HitCount::Exact { occurrences: all, games } => {
                let is_more = u64::from(self.offset) + occurrences < all;
                total(AllHits::Exact { occurrences: all, games }, is_more)
            }
            HitCount::Games(games) => total(AllHits::Games(games), is_more),
            HitCount::AtLeast(0) => total(AllHits::Unknown, is_more),
            HitCount::AtLeast(games) => total(AllHits::AtLeast(games), is_more),
        })
    }

    /// The reason why the query has no hits. Call this only for a query without hits.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn nothing(&self) -> store::Result<NoHits> {
        let unknown_names = || similar_names(self.database, self.selection);
        let has_hits = || {
            let first = Self { limit: Some(1), offset: 0, ..*self };
            Ok::<_, store::Error>(first.visit(|_| false)?.occurrences > 0)
        };
        let query = match self.target {
            FindTarget::Position(query) => query,
            FindTarget::Games => {
                let games = self.database.count_games_of(self.selection)?;
                return Ok(match games {
                    0 => NoHits::NoGame { unknown_names: unknown_names()? },
                    games => NoHits::AllSkipped { games, offset: self.offset },
                });
            }
            FindTarget::Sequence(_) | FindTarget::Like(_) => {
                if self.offset > 0 && has_hits()? {
                    return Ok(NoHits::MatchesSkipped { offset: self.offset });
                }
                return Ok(NoHits::NoneFits { unknown_names: unknown_names()? });
            }
        };
        let reached = count_games(self.database, &query.position, self.lines)?;
        let fen = query.position.canonical_fen();
        if reached == NONE {
            return Ok(NoHits::NotReached { fen, line: match_line(self.database, query, self.lines)? });
        }
        let unknown_names = unknown_names()?;
        Ok(if self.offset > 0 && has_hits()? {
            NoHits::HitsSkipped { reached, offset: self.offset, unknown_names }
        } else {
            NoHits::FilteredOut { reached, unknown_names }
        })
    }
}

/// How far games followed a line whose last position no game reached; `None` if the line has fewer than two
/// moves.
///
/// # Errors
/// Errors of SQLite.
pub fn match_line(
    database: &Database,
    query: &PositionQuery,
    lines: Lines,
) -> store::Result<Option<LineMatch>> {
    let Some((_, before)) = query.line.split_last() else { return Ok(None) };
    for (index, played) in before.iter().enumerate().rev() {
        let reached = count_games(database, &played.position, lines)?;
        if reached != NONE {
            return Ok(Some(LineMatch::To { moves: index + 1, reached }));
        }
    }
    Ok((!before.is_empty()).then_some(LineMatch::Nowhere))
}

/// Whether a search covers the main lines of all games, and no variations. If so, its hits can be counted
/// quickly.
fn is_counted(search: &Search<'_>) -> bool {
    search.selection.is_all() && search.lines == Lines::Main
}

/// A game that was found, with the position where it matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FoundPosition<'h> {
    /// Number of the game.
    pub game_id: GameId,
    /// Name of White's player; `null` if unknown.
    pub white: Option<&'h str>,
    /// White's rating; `null` if unknown.
    pub white_elo: Option<u16>,
    /// Name of Black's player; `null` if unknown.
    pub black: Option<&'h str>,
    /// Black's rating; `null` if unknown.
    pub black_elo: Option<u16>,
    /// Result: `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: &'static str,
    /// Date, `YYYY.MM.DD` with `??` for unknown parts; `null` if unknown.
    pub date: Option<&'h str>,
    /// Name of the event; `null` if unknown.
    pub event: Option<&'h str>,
    /// Name of the site; `null` if unknown.
    pub site: Option<&'h str>,
    /// Round; `null` if unknown.
    pub round: Option<&'h str>,
    /// ECO code from the PGN; `null` if the PGN has none.
    pub eco: Option<&'h str>,
    /// The line of the game in which the position was found: 0 is the main line; 1, 2, 3 … are the variations
    /// in the order of the PGN text. Missing if only main lines were searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Number of half-moves that lead from the start of the game to the position.
    pub ply: Ply,
    /// Number of the next move.
    pub move_number: u32,
    /// Side to move: `w` or `b`.
    pub side: &'static str,
    /// The next move in SAN; `null` at the end of the main line or variation.
    pub next_san: Option<String>,
    /// The next move in UCI notation; `null` at the end of the main line or variation.
    pub next_uci: Option<String>,
    /// Canonical FEN of the position: the first four fields.
    pub fen: &'h str,
    /// Distance from the position in the query: the sum of the weights of all differences; 0 if all pieces
    /// and the side to move are the same. Missing unless the nearest positions were searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<u32>,
}

impl<'h> FoundPosition<'h> {
    /// Converts a hit. `lines` are the lines that were searched.
    ///
    /// # Errors
    /// [`Error::Damaged`](crate::query::Error::Damaged) if the stored position is invalid.
    pub fn from_hit(hit: &'h Hit, lines: Lines) -> Result<Self> {
        let game = &hit.game;
        let (position, _) = Position::from_fen(hit.fen.as_bytes()).map_err(|source| {
            let (game, ply) = (game.game.0, hit.ply.0);
            let what = format!("game {game}, ply {ply}: the stored fen is not a legal position");
            DamagedGame::because(what, source)
        })?;
        Ok(Self {
            game_id: game.game,
            white: game.white.as_deref(),
            white_elo: game.white_elo,
            black: game.black.as_deref(),
            black_elo: game.black_elo,
            result: game.result.as_str(),
            date: game.date.as_deref(),
            event: game.event.as_deref(),
            site: game.site.as_deref(),
            round: game.round.as_deref(),
            eco: game.eco.as_deref(),
            line: (lines == Lines::All).then_some(hit.line),
            ply: hit.ply,
            move_number: hit.move_number(),
            side: side(position.side()),
            next_san: hit.next.map(|code| san(&position, code)),
            next_uci: hit.next.map(|code| position.uci(code).to_string()),
            fen: &hit.fen,
            distance: hit.distance,
        })
    }
}

/// A position has many more games than another one if it has more than `MANY` times as many.
const MANY: u64 = 10;

/// A position with the same pieces on the same squares as a given position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Variant {
    /// The canonical FEN of the position.
    pub fen: String,
    /// The fields in which its FEN differs from that of the given position.
    pub differences: Vec<Difference>,
    /// The number of games that reached the position.
    pub reached: HitCount,
}

/// A field of a FEN in which positions with the same placement can differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// The side to move.
    Side,
    /// Castling rights.
    Castling,
    /// The en-passant square.
    EnPassant,
}

/// Finds variants of a position: positions with the same pieces on the same squares, but with many more
/// games. Only the given lines of the games count. If no game reached the given position, a variant needs
/// only one game.
///
/// # Errors
/// Errors of SQLite.
pub fn variants(database: &Database, position: &Position, lines: Lines) -> store::Result<Vec<Variant>> {
    let many = match count_games(database, position, lines)? {
        HitCount::Exact { games, .. } | HitCount::Games(games) => games.saturating_mul(MANY),
        // Very many games reached the given position, so the user certainly means this position.
        HitCount::AtLeast(_) => return Ok(Vec::new()),
    };
    if database.last_game()?.is_none_or(|last| many >= last.0.into()) {
        // The database does not have enough games for a variant.
        return Ok(Vec::new());
    }
    let mut variants = Vec::new();
    for other in position.same_placement() {
        let reached = count_games(database, &other, lines)?;
        let (HitCount::Exact { games, .. } | HitCount::Games(games) | HitCount::AtLeast(games)) = reached;
        if games > many {
            let fen = other.canonical_fen();
            let differences = differences(&position.canonical_fen(), &fen);
            variants.push(Variant { fen, differences, reached });
        }
    }
    Ok(variants)
}

/// The number of games of the whole database that reached a position.
fn count_games(database: &Database, position: &Position, lines: Lines) -> store::Result<HitCount> {
    database.count_hits(&Search {
        key: position.key(),
        fen: &position.canonical_fen(),
        lines,
        selection: &Selection::default(),
        order: HitOrder::Game,
        limit: None,
        offset: 0,
    })
}

/// The differences between two canonical FENs with the same placement.
fn differences(wanted: &str, other: &str) -> Vec<Difference> {
    let fields = wanted.split(' ').zip(other.split(' ')).skip(1);
    let differences = [Difference::Side, Difference::Castling, Difference::EnPassant];
    fields.zip(differences).filter(|((wanted, other), _)| wanted != other).map(|(_, field)| field).collect()
}
