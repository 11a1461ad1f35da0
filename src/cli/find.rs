//! `pgndex find`: the games that reached a position.

use std::io::Write as _;

use anyhow::Context as _;
use pgndex::board::{Color, MoveCode, Position};
use pgndex::store::row::GameId;
use pgndex::store::{Database, Hit, Page};

use super::args::{FindArgs, RowFormat};
use super::note;
use super::number::{counted, grouped};
use super::output::{RowWriter, Value, stdout};
use super::position_query::{PositionQuery, number_before};
use super::replay::start_position;

/// How many hits are asked for at a time.
const PAGE: u32 = 1000;
/// Up to here the total is counted exactly, a few microseconds for each.
const EXACT: u32 = 1000;
/// Up to here it is counted by key, a tenth of a microsecond for each.
const COUNTED: u32 = 100_000;

const TABLE: [&str; 10] = ["game", "white", "elo", "black", "elo", "result", "date", "event", "ply", "next"];
/// The columns that are cut short if the terminal is narrow.
const NAMES: [&str; 3] = ["white", "black", "event"];
const FIELDS: [&str; 16] = [
    "game_id",
    "white",
    "white_elo",
    "black",
    "black_elo",
    "result",
    "date",
    "event",
    "site",
    "round",
    "eco",
    "ply",
    "move_number",
    "side",
    "next_san",
    "next_uci",
];

/// Finds the games that reached a position.
///
/// # Errors
/// When the position or the database cannot be read.
pub(super) fn run(args: &FindArgs) -> anyhow::Result<()> {
    let query = PositionQuery::read(&args.position)?;
    let database = Database::open_read_only(&args.database)?;
    for change in &query.changes {
        note(&change.to_string());
    }
    let finder =
        Finder { database: &database, fen: query.position.canonical_fen(), position: query.position };
    if !query.changes.is_empty() {
        note(&format!("looking for {}", finder.fen));
    }
    finder.run(args)
}

struct Finder<'a> {
    database: &'a Database,
    position: Position,
    fen: String,
}

impl Finder<'_> {
    fn run(&self, args: &FindArgs) -> anyhow::Result<()> {
        let limit = if args.limit == 0 { u32::MAX } else { args.limit };
        let mut hits = self.page(limit, None)?;
        if hits.is_empty() && args.format == RowFormat::Table {
            let mut out = stdout();
            writeln!(out, "no game reached this position: {}", self.fen)?;
            return Ok(out.flush()?);
        } else if hits.is_empty() {
            note(&format!("no game reached this position: {}", self.fen));
        }
        let is_table = args.format == RowFormat::Table;
        let mut rows =
            RowWriter::stdout(args.format, if is_table { &TABLE } else { &FIELDS })?.shortening(&NAMES);
        let mut left = limit;
        let (mut games, mut previous) = (0, None);
        while let Some(last) = hits.last() {
            let after = (last.game.game, last.ply);
            for hit in &hits {
                games += u64::from(previous.replace(hit.game.game) != Some(hit.game.game));
                let number = self.move_number(hit)?;
                rows.row(&if is_table { self.table_row(hit, number) } else { self.field_row(hit, number) })?;
            }
            left -= u32::try_from(hits.len()).unwrap_or(left).min(left);
            hits = if left == 0 { Vec::new() } else { self.page(left, Some(after))? };
        }
        let total = if left == 0 { Some(self.total(limit)?) } else { None };
        if let Some(total) = total.as_ref().filter(|total| !is_table && total.ends_with(ALL)) {
            note(total);
        }
        rows.finish(|shown| Some(total.unwrap_or_else(|| hits_in_games(shown, games))))
    }

    fn page(&self, limit: u32, after: Option<(GameId, pgndex::store::row::Ply)>) -> anyhow::Result<Vec<Hit>> {
        let page = Page { limit: limit.min(PAGE), offset: 0, after };
        Ok(self.database.games_with_position(self.position.key(), &self.fen, page)?)
    }

    /// The number of the full move in which the position arose: that of the move played from it.
    fn move_number(&self, hit: &Hit) -> anyhow::Result<u32> {
        let sql = "SELECT start_fen FROM game WHERE game_id = ?1";
        let start: Option<String> = self
            .database
            .connection()
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row([hit.game.game.0], |row| row.get(0)))
            .with_context(|| format!("cannot look up where game {} starts", hit.game.game.0))?;
        let (first, black) = match start {
            None => (1, false),
            Some(fen) => {
                let start = start_position(Some(&fen))?;
                (start.fullmove_number(), start.side() == Color::Black)
            }
        };
        Ok(first.saturating_add((hit.ply.0 + u32::from(black)) / 2))
    }

    /// The move played from the position in SAN; a code that does not fit it, in UCI.
    fn san(&self, code: MoveCode) -> String {
        match self.position.clone().make(code) {
            Ok(_) => self.position.san(code),
            Err(_) => code.uci(None).to_string(),
        }
    }

    fn table_row<'h>(&self, hit: &'h Hit, number: u32) -> Vec<Value<'h>> {
        let game = &hit.game;
        let number = number_before(number, self.position.side());
        let next = hit
            .next
            .map_or_else(|| "(last position)".to_owned(), |code| format!("{number} {}", self.san(code)));
        vec![
            game.game.0.into(),
            Value::from(game.white.as_deref().unwrap_or("?")),
            game.white_elo.into(),
            Value::from(game.black.as_deref().unwrap_or("?")),
            game.black_elo.into(),
            Value::from(game.result.as_str()),
            (&game.date).into(),
            (&game.event).into(),
            hit.ply.0.into(),
            next.into(),
        ]
    }

    fn field_row<'h>(&self, hit: &'h Hit, number: u32) -> Vec<Value<'h>> {
        let game = &hit.game;
        let side = if self.position.side() == Color::White { "w" } else { "b" };
        vec![
            game.game.0.into(),
            (&game.white).into(),
            game.white_elo.into(),
            (&game.black).into(),
            game.black_elo.into(),
            Value::from(game.result.as_str()),
            (&game.date).into(),
            (&game.event).into(),
            (&game.site).into(),
            (&game.round).into(),
            (&game.eco).into(),
            hit.ply.0.into(),
            number.into(),
            Value::from(side),
            hit.next.map_or(Value::Null, |code| self.san(code).into()),
            hit.next.map_or(Value::Null, |code| self.position.uci(code).to_string().into()),
        ]
    }

    /// How many of how many are shown. A common position is counted by its key alone, and not for ever.
    fn total(&self, shown: u32) -> anyhow::Result<String> {
        let key = self.position.key();
        let sql = "SELECT count(*) FROM (SELECT 1 FROM position_game WHERE key = ?1 LIMIT ?2)";
        let count: u32 = self
            .database
            .connection()
            .query_row(sql, [key.as_i64(), COUNTED.into()], |row| row.get(0))
            .context("cannot count how often the position arose")?;
        if count > EXACT.max(shown) {
            let about = if count == COUNTED { "more than" } else { "about" };
            return Ok(some_of(shown, &format!("{about} {} games", grouped(count.into()))));
        }
        let exact = self.database.count_position(key, &self.fen, None)?;
        let total = hits_in_games(exact.occurrences, exact.games);
        Ok(if exact.occurrences <= u64::from(shown) { total } else { some_of(shown, &total) })
    }
}

/// `312 games`, or `45 occurrences in 43 games` if a position arose more than once in a game.
fn hits_in_games(hits: u64, games: u64) -> String {
    if hits == games {
        counted(games, "game")
    } else {
        format!("{} in {}", counted(hits, "occurrence"), counted(games, "game"))
    }
}

/// What to do to see more.
const ALL: &str = "--limit 0 shows all";

fn some_of(shown: u32, total: &str) -> String {
    format!("{} of {total} shown; {ALL}", grouped(shown.into()))
}
