//! A player's record: scores by side, opening, kind of ending, year, speed, opponent and opponent's rating,
//! and the most frequent first moves.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;

use serde::{Serialize, Serializer};

use crate::board::{Color, Ending, Endings, MoveCode, Position};
use crate::id::{GameId, NameId};
use crate::query::name::Aliases;
use crate::query::performance::Record;
use crate::query::players::{ListedPlayer, PlayerOrder, PlayersQuery};
use crate::query::position::{as_letter, push_move};
use crate::sorted::{sort_by, sort_by_key};
use crate::store::row::{day_number, year_of_date};
use crate::store::{self, Database, NameFilter, PlayedGame, Selection};

/// The maximum number of moves in a tree. A larger tree would be hard to use.
const MOST_MOVES: usize = 10_000;

/// A query for a player's record.
#[derive(Clone, Copy, Debug)]
pub struct PlayerQuery<'a> {
    /// The database.
    pub database: &'a Database,
    /// The player's name.
    pub name: &'a NameFilter,
    /// The games to count. The selection's filter must have `name` as its `player`, so that all games are the
    /// player's.
    pub selection: &'a Selection,
    /// The maximum length of each of the lists of openings, opponents and best wins.
    pub limit: usize,
    /// The maximum length of the lines, in half-moves.
    pub depth: u32,
    /// The minimum frequency of a move in the lines of a side, as a percentage of the player's games with the
    /// side. A move must also have been played in at least two games.
    pub least_share: u64,
}

/// A player's record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlayerRecord {
    /// The players whose names match, most games first. The games of all of them are counted. The numbers of
    /// games in this list ignore all other filters.
    pub players: Vec<ListedPlayer>,
    /// Record of all games.
    pub all: Record,
    /// Record of the games with White.
    pub white: SideRecord,
    /// Record of the games with Black.
    pub black: SideRecord,
    /// Records by kind of ending, most games first. A game counts once for each kind that it reached.
    pub endings: Vec<EndingRecord>,
    /// Records by year, in ascending order; games without a known year come last.
    pub years: Vec<YearRecord>,
    /// Records by the opponents' ratings, in steps of 100, the highest first; games against opponents without
    /// a rating come last.
    pub opponent_ratings: Vec<RatingRecord>,
    /// Records by speed, most games first.
    pub speeds: Vec<SpeedRecord>,
    /// Records by opponent, most games first; unknown opponents come last. The request limits their number.
    pub opponents: Vec<OpponentRecord>,
    /// Number of different opponents with a known name, including those that are not listed.
    pub opponent_count: u64,
    /// Wins against the highest-rated opponents: the highest rating first; for equal ratings, the latest game
    /// first.
    pub best_wins: Vec<PlayerGame>,
}

/// A player's record with one side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SideRecord {
    /// Record of all games with this side.
    #[serde(flatten)]
    pub record: Record,
    /// Records by opening, most games first; games without a named opening come last. The request limits
    /// their number.
    pub openings: Vec<OpeningRecord>,
    /// Number of different named openings, including those that are not listed.
    pub opening_count: u64,
    /// The most frequent moves from the start position, as a tree.
    pub lines: Vec<LineNode>,
    /// Whether moves were omitted because a tree can have at most 10,000. The tree then has the most frequent
    /// moves.
    #[serde(skip)]
    pub lines_are_cut: bool,
}

/// A player's record in one opening.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpeningRecord {
    /// ECO code; `null` for games without a named opening.
    pub eco: Option<String>,
    /// Name of the opening; `null` for games without a named opening.
    pub name: Option<String>,
    /// Record of the games with this opening.
    #[serde(flatten)]
    pub record: Record,
}

/// A player's record in one kind of ending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EndingRecord {
    /// Kind of ending, such as `rook`.
    #[serde(serialize_with = "as_name")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub kind: Ending,
    /// Record of the games that reached this kind of ending.
    #[serde(flatten)]
    pub record: Record,
}

/// A player's record in one year.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct YearRecord {
    /// Year; `null` for games without a known year.
    pub year: Option<u16>,
    /// Record of the games of this year.
    #[serde(flatten)]
    pub record: Record,
}

/// A player's record against opponents whose ratings are in one step of 100 points, or whose ratings are
/// unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RatingRecord {
    /// Lowest rating of the step: 2400 means 2400 to 2499. `null` for opponents without a rating.
    pub from: Option<u16>,
    /// Record of the games against these opponents.
    #[serde(flatten)]
    pub record: Record,
}

/// A player's record at one speed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SpeedRecord {
    /// Speed, in the classes of Lichess, such as `blitz`; `null` for games with an unknown speed.
    pub speed: Option<String>,
    /// Record of the games at this speed.
    #[serde(flatten)]
    pub record: Record,
}

/// A player's record against one opponent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpponentRecord {
    /// The opponent's main name; `null` for games with an unknown opponent.
    pub name: Option<String>,
    /// Record of the games against this opponent.
    #[serde(flatten)]
    pub record: Record,
}

/// A game from the player's view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlayerGame {
    /// Number of the game.
    pub game_id: GameId,
    /// The player's side: `w` or `b`.
    #[serde(serialize_with = "as_letter")]
    #[cfg_attr(test, schemars(with = "String", extend("enum" = ["w", "b"])))]
    pub side: Color,
    /// Date, `YYYY.MM.DD` with `??` for unknown parts; `null` if unknown.
    pub date: Option<String>,
    /// The opponent's main name; `null` if unknown.
    pub opponent: Option<String>,
    /// The opponent's rating; `null` if unknown.
    pub opponent_rating: Option<u16>,
    /// Name of the event; `null` if unknown.
    pub event: Option<String>,
    /// ECO code of the opening; `null` if the opening has no name.
    pub eco: Option<String>,
    /// Name of the opening; `null` if it has none.
    pub opening: Option<String>,
}

/// The last move of a line, and the record of the player's games that begin with this line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LineNode {
    /// Number of half-moves up to and including this one: 1 for the first move of the game.
    pub ply: u32,
    /// The move in SAN.
    pub san: String,
    /// The move in UCI notation.
    pub uci: String,
    /// The most frequent line of the tree that leads to the position after this move, such as `1. d4 Nf6 2.
    /// c4`; `null` if it is this line. The games of the two lines are counted separately.
    pub transposes_to: Option<String>,
    /// Record of the games with this line.
    #[serde(flatten)]
    pub record: Record,
    /// The moves played after this one, the most frequent first.
    pub next: Vec<Self>,
}

/// Serializes a kind of ending by the name that `find` accepts.
fn as_name<S: Serializer>(kind: &Ending, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.as_str())
}

impl PlayerQuery<'_> {
    /// Computes the record.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn answer(&self) -> store::Result<PlayerRecord> {
        let snapshot = self.database.snapshot()?;
        let players = PlayersQuery {
            database: self.database,
            name: Some(self.name),
            order: PlayerOrder::Games,
            limit: None,
            offset: 0,
        };
        let players = players.list()?.players;
        let known = self.selection.players().iter().find(|known| known.field == "player");
        let names: &[NameId] = known.map_or(&[], |known| &known.ids);
        let mut games = Vec::new();
        self.database.visit_played_games(names, self.selection, |game| games.push(game))?;
        let aliases = Aliases::read(self.database)?;
        for opponent in games.iter_mut().filter_map(|game| game.opponent.as_mut()) {
            if let Some(name) = aliases.player_of(opponent) {
                *opponent = name.to_owned();
            }
        }
        let (white, black) = (self.side(&games, Color::White)?, self.side(&games, Color::Black)?);
        let endings = self.endings(&games)?;
        drop(snapshot);
        let mut years = grouped(&games, |game| year_of_date(game.date.as_deref()));
        sort_by_key(&mut years, |(year, _)| (year.is_none(), *year));
        let mut ratings = grouped(&games, |game| game.opponent_rating.map(|rating| rating / 100 * 100));
        sort_by_key(&mut ratings, |(from, _)| (from.is_none(), Reverse(*from)));
        let mut speeds = grouped(&games, |game| game.speed.as_deref());
        sort_by_key(&mut speeds, |(speed, record)| (Reverse(record.games), *speed));
        let (opponents, opponent_count) = self.most(grouped(&games, |game| game.opponent.as_deref()));
        let rating = |(from, record)| RatingRecord { from, record };
        let speed =
            |(speed, record): (Option<&str>, _)| SpeedRecord { speed: speed.map(str::to_owned), record };
        let opponent =
            |(name, record): (Option<&str>, _)| OpponentRecord { name: name.map(str::to_owned), record };
        Ok(PlayerRecord {
            players,
            all: Record::of(&games),
            white,
            black,
            endings,
            years: years.into_iter().map(|(year, record)| YearRecord { year, record }).collect(),
            opponent_ratings: ratings.into_iter().map(rating).collect(),
            speeds: speeds.into_iter().map(speed).collect(),
            opponents: opponents.into_iter().map(opponent).collect(),
            opponent_count,
            best_wins: self.best_wins(&games),
        })
    }

    fn side(&self, games: &[PlayedGame], side: Color) -> store::Result<SideRecord> {
        let games = || games.iter().filter(move |game| game.side == side);
        let record = Record::of(games());
        let (openings, opening_count) = self.most(grouped(games(), |game| {
            game.opening.as_ref().map(|opening| (opening.eco.as_str(), opening.name.as_str()))
        }));
        let mut lines = TreeBuilder::default();
        if self.depth > 0 {
            for game in games() {
                if let Some(moves) = self.database.first_moves(game.game, self.depth)? {
                    lines.games.push((moves.into(), game));
                }
            }
        }
        let fewest = (record.games * self.least_share).div_ceil(100).max(2);
        let (lines, lines_are_cut) = lines.tree(fewest);
        let opening = |(opening, record): (Option<(&str, &str)>, _)| {
            let (eco, name) = opening.map(|(eco, name)| (eco.to_owned(), name.to_owned())).unzip();
            OpeningRecord { eco, name, record }
        };
        Ok(SideRecord {
            record,
            openings: openings.into_iter().map(opening).collect(),
            opening_count,
            lines,
            lines_are_cut,
        })
    }

    fn endings(&self, games: &[PlayedGame]) -> store::Result<Vec<EndingRecord>> {
        let mut numbers: Vec<GameId> = games.iter().map(|game| game.game).collect();
        numbers.dedup();
        let reached = self.database.endings_of(&numbers)?;
        let reached: HashMap<GameId, Endings> = numbers.into_iter().zip(reached).collect();
        let of_kind = |kind| {
            let games = games.iter().filter(|game| reached[&game.game].contains(kind));
            EndingRecord { kind, record: Record::of(games) }
        };
        let mut endings: Vec<_> =
            Ending::ALL.into_iter().map(of_kind).filter(|ending| ending.record.games > 0).collect();
        sort_by_key(&mut endings, |ending| Reverse(ending.record.games));
        Ok(endings)
    }

    /// Sorts records by their number of games, most first, then by value. The record of the games with an
    /// unknown value comes last. Returns at most `limit` records, and the number of all records with a known
    /// value.
    fn most<T: Ord>(&self, mut records: Vec<(Option<T>, Record)>) -> (Vec<(Option<T>, Record)>, u64) {
        sort_by(&mut records, |(one, record), (other, more)| {
            let key = (one.is_none(), Reverse(record.games), one);
            key.cmp(&(other.is_none(), Reverse(more.games), other))
        });
        let count = records.iter().filter(|(what, _)| what.is_some()).count() as u64;
        records.truncate(self.limit);
        (records, count)
    }

    fn best_wins(&self, games: &[PlayedGame]) -> Vec<PlayerGame> {
        let mut wins: Vec<&PlayedGame> = games
            .iter()
            .filter(|game| game.result.half_points(game.side) == Some(2) && game.opponent_rating.is_some())
            .collect();
        sort_by_key(&mut wins, |game| {
            (Reverse(game.opponent_rating), Reverse(game.date.as_deref().map(day_number)), game.game.0)
        });
        let as_answer = |game: &PlayedGame| PlayerGame {
            game_id: game.game,
            side: game.side,
            date: game.date.clone(),
            opponent: game.opponent.clone(),
            opponent_rating: game.opponent_rating,
            event: game.event.clone(),
            eco: game.opening.as_ref().map(|opening| opening.eco.clone()),
            opening: game.opening.as_ref().map(|opening| opening.name.clone()),
        };
        wins.into_iter().take(self.limit).map(as_answer).collect()
    }
}

/// For each value that `what` returns, the record of the games with this value; in no particular order.
fn grouped<'g, T: Eq + std::hash::Hash + Clone>(
    games: impl IntoIterator<Item = &'g PlayedGame>,
    what: impl Fn(&'g PlayedGame) -> Option<T>,
) -> Vec<(Option<T>, Record)> {
    let mut records: HashMap<Option<T>, Record> = HashMap::new();
    for game in games {
        records.entry(what(game)).or_default().count(game);
    }
    records.into_iter().collect()
}

/// Builds a tree of games by their first moves.
#[derive(Debug, Default)]
struct TreeBuilder<'g> {
    games: Vec<(Box<[MoveCode]>, &'g PlayedGame)>,
}

/// A move of the tree under construction. Its games are consecutive in the sorted list of games.
struct Node {
    code: MoveCode,
    games: Range<usize>,
    ply: usize,
    /// The indexes of its children in the list of nodes.
    next: Vec<usize>,
}

impl TreeBuilder<'_> {
    /// The moves that at least `fewest` games played, as a tree. If there are more than [`MOST_MOVES`], the
    /// tree has only the most frequent ones, and the second value is `true`.
    fn tree(mut self, fewest: u64) -> (Vec<LineNode>, bool) {
        sort_by(&mut self.games, |(one, _), (other, _)| {
            one.iter().map(|code| code.bits()).cmp(other.iter().map(|code| code.bits()))
        });
        let (taken, is_cut) = self.most_frequent(fewest);
        let mut nodes = self.nodes(&taken, 0, &Position::start());
        let mut lines: HashMap<String, (u64, String)> = HashMap::new();
        visit(&mut nodes, &Position::start(), "", &mut |node, fen, line| {
            let games = node.record.games;
            if lines.get(&fen).is_none_or(|(most, _)| *most < games) {
                lines.insert(fen, (games, line.to_owned()));
            }
        });
        visit(&mut nodes, &Position::start(), "", &mut |node, fen, line| {
            node.transposes_to = lines.get(&fen).map(|(_, most)| most).filter(|most| *most != line).cloned();
        });
        (nodes, is_cut)
    }

    /// The most frequent moves; among equally frequent ones, those of the shortest lines. The first node is
    /// the root, without a move. The second value is whether moves were omitted because there are more than
    /// [`MOST_MOVES`].
    fn most_frequent(&self, fewest: u64) -> (Vec<Node>, bool) {
        let mut taken =
            vec![Node { code: MoveCode::NULL, games: 0..self.games.len(), ply: 0, next: Vec::new() }];
        let mut open = BinaryHeap::new();
        let mut at = 0;
        loop {
            for (code, games) in self.moves_after(&taken[at]) {
                if games.len() as u64 >= fewest {
                    let ply = taken[at].ply + 1;
                    open.push((games.len(), Reverse((ply, games.start, games.end, code.bits(), at))));
                }
            }
            let Some((_, Reverse((ply, start, end, _, before)))) = open.pop() else { return (taken, false) };
            if taken.len() > MOST_MOVES {
                return (taken, true);
            }
            at = taken.len();
            let code = self.games[start].0[ply - 1];
            taken.push(Node { code, games: start..end, ply, next: Vec::new() });
            taken[before].next.push(at);
        }
    }

    /// The moves played after a node, each with the range of its games.
    fn moves_after(&self, node: &Node) -> impl Iterator<Item = (MoveCode, Range<usize>)> {
        let (first, ply) = (node.games.start, node.ply);
        let code = move |(moves, _): &(Box<[MoveCode]>, &PlayedGame)| moves.get(ply).copied();
        let groups = self.games[node.games.clone()].chunk_by(move |one, other| code(one) == code(other));
        let mut end = first;
        groups.filter_map(move |group| {
            let start = end;
            end += group.len();
            Some((code(&group[0])?, start..end))
        })
    }

    fn nodes(&self, taken: &[Node], at: usize, position: &Position) -> Vec<LineNode> {
        let mut next = taken[at].next.clone();
        sort_by_key(&mut next, |&index| (Reverse(taken[index].games.len()), taken[index].code.bits()));
        let line_node = |index: usize| {
            let node = &taken[index];
            let mut after = position.clone();
            // A stored move that is impossible in this position: the database is damaged. `verify` reports
            // it; skip it here.
            after.make(node.code).ok()?;
            Some(LineNode {
                ply: u32::try_from(node.ply).unwrap_or(u32::MAX),
                san: position.san(node.code),
                uci: position.uci(node.code).to_string(),
                transposes_to: None,
                record: Record::of(self.games[node.games.clone()].iter().map(|(_, game)| *game)),
                next: self.nodes(taken, index, &after),
            })
        };
        next.into_iter().filter_map(line_node).collect()
    }
}

/// Calls `see` for all nodes after `position`, with the node, the canonical FEN of the position after its
/// move, and the line including its move. `line` must lead to `position`.
fn visit(
    nodes: &mut [LineNode],
    position: &Position,
    line: &str,
    see: &mut impl FnMut(&mut LineNode, String, &str),
) {
    for node in nodes {
        let (mut after, mut line) = (position.clone(), line.to_owned());
        push_move(&mut line, position.fullmove_number(), position.side(), &node.san);
        if after.play_san(node.san.as_bytes()).is_ok() {
            see(node, after.canonical_fen(), &line);
            visit(&mut node.next, &after, &line, see);
        }
    }
}
