//! Compares a repertoire with the games of a database. For each line, counts the games that reached its end,
//! with their score. Finds the moves with which games left the repertoire, and the frequent moves that the
//! repertoire does not answer.

mod book;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

pub use book::{Book, BookProblem, TooLong};

use crate::board::{Color, GameResult, MoveCode};
use crate::id::GameId;
use crate::query::position::{as_letter, push_move, san};
use crate::sorted::{SortedMap, sort_by_key};
use crate::store::{self, Database, ReachedGames, Selection};

/// A query that compares a repertoire with games.
#[derive(Clone, Copy, Debug)]
pub struct RepertoireQuery<'a> {
    /// The database.
    pub database: &'a Database,
    /// The repertoire.
    pub book: &'a Book,
    /// The games to count.
    pub selection: &'a Selection,
    /// A move outside the repertoire is reported only if it was played in at least this many games.
    pub least_games: u64,
    /// A move outside the repertoire is reported only if it was played in at least this percentage of games
    /// with the position before it.
    pub least_share: u64,
    /// The maximum length of each list of moves outside the repertoire.
    pub limit: usize,
    /// The maximum number of games to list, latest first.
    pub games: usize,
    /// A game is listed only if it reached a repertoire position at least this many half-moves after the
    /// start position of its line.
    pub least_plies: u32,
}

/// Why the comparison failed.
#[derive(Debug, thiserror::Error)]
pub enum RepertoireError {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Neither tags nor moves show the side.
    #[error(
        "cannot determine the repertoire's side: both sides have alternatives in equally many positions, and both make the \
         last move in equally many lines; give the side"
    )]
    UnknownSide,
}

/// A repertoire for one side, compared with the games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Repertoire {
    /// Side of the repertoire: `w` or `b`.
    #[serde(serialize_with = "as_letter")]
    #[cfg_attr(test, schemars(with = "String", extend("enum" = ["w", "b"])))]
    pub side: Color,
    /// Whether the side was given, in the request or in the PGN's tags. `false`: the side was derived from
    /// the moves. It is the side that has several moves in fewer positions. If both sides have equally many
    /// such positions, it is the side that makes the last move of more lines.
    pub is_side_given: bool,
    /// Number of different positions in the repertoire.
    pub positions: u64,
    /// The lines of the repertoire, depth first: each from a start position to the last move of a main line
    /// or variation. No line is the beginning of another.
    pub lines: Vec<RepertoireLine>,
    /// Opponent moves outside the repertoire, the most frequent first. Moves that are rarer than the request
    /// demands are omitted.
    pub unanswered: Vec<Departure>,
    /// Number of moves that `unanswered` would have without its limit.
    pub unanswered_count: u64,
    /// Moves of the repertoire's side that differ from the repertoire, the most frequent first. Moves that
    /// are rarer than the request demands are omitted.
    pub departures: Vec<Departure>,
    /// Number of moves that `departures` would have without its limit.
    pub departure_count: u64,
    /// The latest games that followed the repertoire, the latest first.
    pub games: Vec<FollowingGame>,
    /// Whether more games followed the repertoire than are listed; `false` if no games were requested.
    pub more_games: bool,
}

/// A line of a repertoire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RepertoireLine {
    /// Index, from 1, of the first game in the repertoire's text that contains this line.
    pub chapter: u32,
    /// Name of the game with the index `chapter`; `null` if it has none.
    pub name: Option<String>,
    /// FEN of the line's first position, all six fields; `null` for the standard start position.
    pub start_fen: Option<String>,
    /// The moves of the line.
    pub moves: Vec<RepertoireMove>,
    /// The games that reached the last position of the line, in any move order.
    #[serde(flatten)]
    pub score: Score,
    /// Number of half-moves of the line up to and including the last one that was played in a game, in any
    /// move order; 0 if no game played a move of the line.
    pub followed: u32,
    /// Whether the line ends with an opponent move, without a reply to it.
    pub is_open: bool,
    /// The most frequent opponent move outside the repertoire in one position of the line: the last one where
    /// such a move is frequent enough. `null` if there is no such position.
    pub left_by: Option<RepertoireMove>,
}

/// A move of a line, or a move that leaves it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RepertoireMove {
    /// Number of the move.
    pub move_number: u32,
    /// Side that makes the move: `w` or `b`.
    #[serde(serialize_with = "as_letter")]
    #[cfg_attr(test, schemars(with = "String", extend("enum" = ["w", "b"])))]
    pub side: Color,
    /// The move in SAN.
    pub san: String,
    /// The move in UCI notation.
    pub uci: String,
    /// Number of games in which the move was played from the position before it.
    pub games: u64,
}

/// A move outside the repertoire, played from one of its positions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Departure {
    /// The repertoire's moves that lead to the position before the move, such as `1. e4 c5 2. Nf3`.
    pub after: String,
    /// Number of the move.
    pub move_number: u32,
    /// Side that made the move: `w` or `b`.
    #[serde(serialize_with = "as_letter")]
    #[cfg_attr(test, schemars(with = "String", extend("enum" = ["w", "b"])))]
    pub side: Color,
    /// FEN of the position before the move, all six fields.
    pub fen: String,
    /// The move in SAN.
    pub san: String,
    /// The move in UCI notation.
    pub uci: String,
    /// The results of the games in which the move was played from that position.
    #[serde(flatten)]
    pub score: Score,
    /// Number of games that reached the position before the move.
    pub reached: u64,
    /// The moves that the repertoire has in the position instead of this move, in SAN.
    pub expected: Vec<String>,
}

/// A game that followed a repertoire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FollowingGame {
    /// Number of the game.
    pub game_id: GameId,
    /// Date, `YYYY.MM.DD` with `??` for unknown parts; `null` if unknown.
    pub date: Option<String>,
    /// Name of White's player; `null` if unknown.
    pub white: Option<String>,
    /// White's rating; `null` if unknown.
    pub white_elo: Option<u16>,
    /// Name of Black's player; `null` if unknown.
    pub black: Option<String>,
    /// Black's rating; `null` if unknown.
    pub black_elo: Option<u16>,
    /// Result: `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: &'static str,
    /// Name of the event; `null` if unknown.
    pub event: Option<String>,
    /// The repertoire's moves, such as `1. e4 c5 2. Nf3`, up to the deepest of its positions that the game
    /// reached.
    pub followed: String,
    /// The game's move in the deepest position of the repertoire that it reached, in SAN; `null` if the game
    /// ended there.
    pub next: Option<String>,
    /// Whether the repertoire has no move in the deepest of its positions that the game reached.
    pub is_end: bool,
}

/// The results of some games, from the view of the repertoire's side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Score {
    /// Number of games, including games without a result.
    pub games: u64,
    /// Number of games won by the repertoire's side.
    pub wins: u64,
    /// Number of drawn games.
    pub draws: u64,
    /// Number of games lost by the repertoire's side.
    pub losses: u64,
}

impl Score {
    fn count(&mut self, result: GameResult, side: Color) {
        self.games += 1;
        match result.half_points(side) {
            None => {}
            Some(2) => self.wins += 1,
            Some(1) => self.draws += 1,
            Some(_) => self.losses += 1,
        }
    }

    /// The number of games with a result.
    #[must_use]
    pub const fn finished(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// The score in games with a result, in half points.
    #[must_use]
    pub const fn half_points(&self) -> u64 {
        2 * self.wins + self.draws
    }
}

impl RepertoireQuery<'_> {
    /// Compares the repertoire with the games. A text can contain up to three repertoires: one for White, one
    /// for Black, and one whose side is not given. All of them are returned.
    ///
    /// # Errors
    /// [`RepertoireError`].
    pub fn answer(&self) -> Result<Vec<Repertoire>, RepertoireError> {
        let snapshot = self.database.snapshot()?;
        let mut reached = ReachedGames::new(self.database, self.selection);
        let mut repertoires = Vec::new();
        for given_side in [Some(Color::White), Some(Color::Black), None] {
            let roots = self.book.roots.iter().filter(|(side, _)| *side == given_side);
            let places = RepertoirePositions::new(self.book, roots.map(|&(_, root)| root).collect());
            if places.places.iter().all(|place| place.moves.is_empty()) {
                continue;
            }
            let side = match given_side {
                Some(side) => side,
                None => self.side_of(&places).ok_or(RepertoireError::UnknownSide)?,
            };
            repertoires.push(self.of(places, side, given_side.is_some(), &mut reached)?);
        }
        drop(snapshot);
        Ok(repertoires)
    }

    /// The side that the repertoire is probably for: the side with fewer positions in which it has more than
    /// one move. If both sides have the same number of such positions, the side that plays the last move of
    /// more lines; `None` if these numbers are equal too.
    fn side_of(&self, places: &RepertoirePositions) -> Option<Color> {
        let choices = |side: Color| {
            let places = places.places.iter().filter(|place| place.moves.len() > 1);
            places.filter(|place| self.book.nodes[place.node].position.side() == side).count()
        };
        let ends = |side: Color| {
            let ends = places.nodes.iter().map(|&(node, _)| &self.book.nodes[node]);
            ends.filter(|node| node.children.is_empty() && node.position.side() != side).count()
        };
        let [white, black] = [Color::White, Color::Black].map(|side| (choices(side), Reverse(ends(side))));
        match white.cmp(&black) {
            std::cmp::Ordering::Less => Some(Color::White),
            std::cmp::Ordering::Greater => Some(Color::Black),
            std::cmp::Ordering::Equal => None,
        }
    }

    fn of(
        &self,
        mut places: RepertoirePositions,
        side: Color,
        is_side_given: bool,
        reached: &mut ReachedGames<'_>,
    ) -> Result<Repertoire, RepertoireError> {
        let latest = self.count(&mut places, side, reached)?;
        places.find_leaving(self.book);
        let ends = places.nodes.iter().filter(|(node, _)| self.book.nodes[*node].children.is_empty());
        let ends = ends.filter(|(node, _)| self.book.nodes[*node].ply > 0);
        let lines = ends.map(|&end| self.line(end, &places, side)).collect();
        let (mut unanswered, mut departures) = (Vec::new(), Vec::new());
        for place in &places.places {
            let own = self.book.nodes[place.node].position.side() == side;
            let found = if own { &mut departures } else { &mut unanswered };
            found.extend(place.leaving.iter().map(|(code, score)| (place, *code, *score)));
        }
        let (unanswered, unanswered_count) = self.most(unanswered);
        let (departures, departure_count) = self.most(departures);
        let (games, more_games) = self.following(latest, &places)?;
        Ok(Repertoire {
            side,
            is_side_given,
            positions: places.places.len() as u64,
            lines,
            unanswered,
            unanswered_count,
            departures,
            departure_count,
            games,
            more_games,
        })
    }

    /// Counts the games that reached each position of the repertoire. Returns the latest games that followed
    /// the repertoire.
    fn count(
        &self,
        places: &mut RepertoirePositions,
        side: Color,
        reached: &mut ReachedGames<'_>,
    ) -> Result<Latest, RepertoireError> {
        // Keep one game more than are listed, to find out whether there are more.
        let mut latest = Latest { most: self.games.saturating_add(1), games: BTreeMap::new() };
        // A game is listed with the deepest position of the repertoire that it reached, so the deepest
        // positions are counted first.
        let mut order: Vec<usize> = (0..places.places.len()).collect();
        sort_by_key(&mut order, |&index| Reverse(self.book.nodes[places.places[index].node].ply));
        for index in order {
            let node = &self.book.nodes[places.places[index].node];
            let is_listed = self.games > 0 && node.ply >= self.least_plies;
            let new = || (Score::default(), SortedMap::<MoveCode, Score>::new(), Vec::new());
            let (score, played, games) =
                reached.fold(&node.position, new, |(score, played, games), game| {
                    score.count(game.result, side);
                    if let Some(code) = game.played {
                        played.entry(code).count(game.result, side);
                    }
                    if is_listed && latest.is_wanted(game.day, game.game) {
                        games.push((game.day, game.game, game.played));
                    }
                })?;
            for (day, game, played) in games {
                latest.insert(day, game, (index, played));
            }
            let place = &mut places.places[index];
            (place.score, place.played) = (score, played);
        }
        Ok(latest)
    }

    fn line(&self, (end, last): (usize, usize), places: &RepertoirePositions, side: Color) -> RepertoireLine {
        let book = self.book;
        let mut line = RepertoireLine {
            chapter: u32::try_from(book.nodes[end].chapter + 1).unwrap_or(u32::MAX),
            name: book.chapters[book.nodes[end].chapter].clone(),
            start_fen: book.start_of(end),
            moves: Vec::new(),
            score: places.places[last].score,
            followed: 0,
            is_open: book.nodes[end].position.side() == side,
            left_by: None,
        };
        for (parent, code) in book.line(end) {
            let place = &places.places[places.by_node[&parent]];
            let made = |code: MoveCode, games: u64| {
                let position = &book.nodes[parent].position;
                let (san, uci) = (san(position, code), position.uci(code).to_string());
                let (move_number, side) = (position.fullmove_number(), position.side());
                RepertoireMove { move_number, side, san, uci, games }
            };
            let games = place.played.get(&code).map_or(0, |score| score.games);
            if games > 0 {
                line.followed = book.nodes[parent].ply + 1;
            }
            line.moves.push(made(code, games));
            if let Some(&(code, score)) = place.leaving.first()
                && book.nodes[parent].position.side() != side
                && self.is_frequent(score, place)
            {
                line.left_by = Some(made(code, score.games));
            }
        }
        line
    }

    /// Whether enough games played a move from a position, in number and in percent.
    const fn is_frequent(&self, score: Score, place: &RepertoirePosition) -> bool {
        let enough = score.games > 0 && score.games >= self.least_games;
        enough && 100 * score.games >= self.least_share * place.score.games
    }

    /// At most `limit` of the moves that were played often enough, most games first, and the number of all
    /// such moves.
    fn most(&self, mut found: Vec<(&RepertoirePosition, MoveCode, Score)>) -> (Vec<Departure>, u64) {
        found.retain(|(place, _, score)| self.is_frequent(*score, place));
        // The sort is stable: moves with equal keys stay in the order in which their positions first occur
        // depth first.
        sort_by_key(&mut found, |(place, _, score)| (Reverse(score.games), self.book.nodes[place.node].ply));
        let count = found.len() as u64;
        let departure = |(place, code, score): (&RepertoirePosition, MoveCode, Score)| {
            let position = &self.book.nodes[place.node].position;
            Departure {
                after: self.moves_to(place.node),
                move_number: position.fullmove_number(),
                side: position.side(),
                fen: position.fen(),
                san: san(position, code),
                uci: position.uci(code).to_string(),
                score,
                reached: place.score.games,
                expected: place.moves.iter().map(|&code| san(position, code)).collect(),
            }
        };
        (found.into_iter().take(self.limit).map(departure).collect(), count)
    }

    fn moves_to(&self, node: usize) -> String {
        let mut text = String::new();
        for (parent, code) in self.book.line(node) {
            let position = &self.book.nodes[parent].position;
            push_move(&mut text, position.fullmove_number(), position.side(), &san(position, code));
        }
        text
    }

    /// The games to list, and whether there are more.
    fn following(
        &self,
        latest: Latest,
        places: &RepertoirePositions,
    ) -> store::Result<(Vec<FollowingGame>, bool)> {
        let game = |((_, game), (index, played)): ((u32, GameId), Followed)| {
            let place: &RepertoirePosition = &places.places[index];
            let summary = self.database.game(game)?.summary;
            let position = &self.book.nodes[place.node].position;
            Ok(FollowingGame {
                game_id: game,
                date: summary.date,
                white: summary.white,
                white_elo: summary.white_elo,
                black: summary.black,
                black_elo: summary.black_elo,
                result: summary.result.as_str(),
                event: summary.event,
                followed: self.moves_to(place.node),
                next: played.map(|code| san(position, code)),
                is_end: place.moves.is_empty(),
            })
        };
        let mut games = latest.games.into_iter().rev();
        let listed = games.by_ref().take(self.games).map(game).collect::<store::Result<_>>()?;
        Ok((listed, games.next().is_some()))
    }
}

/// A position of a repertoire, regardless of the moves that lead to it.
#[derive(Default)]
struct RepertoirePosition {
    /// The first node with this position.
    node: usize,
    /// The repertoire's moves, in the order of the text.
    moves: Vec<MoveCode>,
    /// The score of the games that reached the position.
    score: Score,
    /// For each move, the score of the games in which it was the last move played from the position.
    played: SortedMap<MoveCode, Score>,
    /// The games' moves that leave the repertoire, most frequent first, then by UCI notation.
    leaving: Vec<(MoveCode, Score)>,
}

/// The positions of all lines that begin at one of the given start positions.
#[derive(Default)]
struct RepertoirePositions {
    places: Vec<RepertoirePosition>,
    /// All nodes, depth first, children in the order of the text; each with the index of its position in
    /// `places`.
    nodes: Vec<(usize, usize)>,
    by_node: HashMap<usize, usize>,
    by_fen: HashMap<String, usize>,
}

impl RepertoirePositions {
    fn new(book: &Book, mut next: Vec<usize>) -> Self {
        let mut found = Self::default();
        next.reverse();
        while let Some(node) = next.pop() {
            let children = &book.nodes[node].children;
            next.extend(children.iter().rev());
            let place = *found.by_fen.entry(book.nodes[node].position.canonical_fen()).or_insert_with(|| {
                found.places.push(RepertoirePosition { node, ..RepertoirePosition::default() });
                found.places.len() - 1
            });
            for code in children.iter().filter_map(|&child| book.nodes[child].parent.map(|(_, code)| code)) {
                // A null move in a repertoire does not recommend a move.
                if code != MoveCode::NULL && !found.places[place].moves.contains(&code) {
                    found.places[place].moves.push(code);
                }
            }
            found.nodes.push((node, place));
            found.by_node.insert(node, place);
        }
        found
    }

    /// Finds the moves that leave the repertoire: neither the move nor the position after it belongs to the
    /// repertoire. In a position without repertoire moves, no move counts as leaving the repertoire.
    fn find_leaving(&mut self, book: &Book) {
        for index in 0..self.places.len() {
            let place = &self.places[index];
            if place.moves.is_empty() {
                continue;
            }
            let position = &book.nodes[place.node].position;
            let leaves = |code: MoveCode| {
                let mut after = position.clone();
                after.make(code).is_err() || !self.by_fen.contains_key(&after.canonical_fen())
            };
            let other = place.played.iter().filter(|(code, _)| !place.moves.contains(code));
            let leaving = other.filter(|(code, _)| leaves(**code)).map(|(&code, &score)| (code, score));
            let mut leaving: Vec<_> = leaving.collect();
            sort_by_key(&mut leaving, |(code, score)| {
                (Reverse(score.games), position.uci(*code).to_string())
            });
            self.places[index].leaving = leaving;
        }
    }
}

/// The latest games that followed a repertoire, up to a maximum number. Each game is stored with the deepest
/// repertoire position that it reached, which is recorded first.
struct Latest {
    most: usize,
    /// By day and game.
    games: BTreeMap<(u32, GameId), Followed>,
}

/// The index of a position in `places`, and the move that the game played from there.
type Followed = (usize, Option<MoveCode>);

impl Latest {
    /// Whether a game is not yet recorded, and is late enough to be listed.
    fn is_wanted(&self, day: u32, game: GameId) -> bool {
        let is_late = || self.games.first_key_value().is_none_or(|(first, _)| (day, game) > *first);
        (self.games.len() < self.most || is_late()) && !self.games.contains_key(&(day, game))
    }

    fn insert(&mut self, day: u32, game: GameId, followed: Followed) {
        if self.is_wanted(day, game) {
            self.games.insert((day, game), followed);
            if self.games.len() > self.most {
                self.games.pop_first();
            }
        }
    }
}
