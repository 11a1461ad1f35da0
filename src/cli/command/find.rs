//! `pgndex find`: the games that reached a position.

use std::io::Write;

use anyhow::Context as _;
use pgndex::board::{Color, MaterialSignature, MoveCode, Pattern, Position};
use pgndex::export::write_pgn;
use pgndex::store::row::GameId;
use pgndex::store::{Database, Hit, HitCount, HitOrder, Scan, Search, Selection};

use crate::cli::args::{FindArgs, FindFormat, FindTargetArgs, RowFormat, SortArg};
use crate::cli::command::variants::{count_games, games_that_reached, tell_variants};
use crate::cli::note;
use crate::cli::position_query::{PositionQuery, number_before};
use crate::cli::render::number::{counted, grouped};
use crate::cli::render::output::{RowWriter, Value, shown, stdout};
use crate::cli::terminal::timing::Timing;
use crate::cli::unknown_name::explain_names;
use crate::cli::usage::WrongValue;

const TABLE: [&str; 10] = ["game", "white", "elo", "black", "elo", "result", "date", "event", "ply", "next"];
/// The columns that are cut short if the terminal is narrow.
const NAMES: [&str; 3] = ["white", "black", "event"];
const FIELDS: [&str; 17] = [
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
    "fen",
];

/// What is looked for.
enum Target {
    /// A position.
    Position(Box<PositionQuery>),
    /// Positions that fit a pattern.
    Pattern(Box<Pattern>),
    /// Positions with this material.
    Material(MaterialSignature),
}

impl Target {
    fn read(args: &FindTargetArgs) -> anyhow::Result<Self> {
        Ok(match (&args.pattern, &args.material) {
            (Some(pattern), _) => {
                let pattern = Pattern::parse(pattern).context("--pattern cannot be read");
                Self::Pattern(pattern.map_err(WrongValue)?.into())
            }
            (_, Some(material)) => {
                let material = MaterialSignature::parse(material).context("--material cannot be read");
                Self::Material(material.map_err(WrongValue)?)
            }
            (None, None) => Self::Position(PositionQuery::read(&args.position())?.into()),
        })
    }
}

/// Finds the games that reached a position.
///
/// # Errors
/// When the position or the database cannot be read.
pub(crate) fn run(args: &FindArgs) -> anyhow::Result<()> {
    let timing = Timing::start(args.timing);
    let target = Target::read(&args.target)?;
    let filter = args.filter.filter()?;
    let database = Database::open_read_only(&args.database)?;
    let selection = database.select(&filter)?;
    let finder = Finder { database: &database, selection: &selection, args };
    match &target {
        Target::Position(query) => finder.find(query)?,
        Target::Pattern(pattern) => finder.scan(|fen| pattern.matches(fen))?,
        Target::Material(material) => finder.scan(|fen| material.matches(fen))?,
    }
    timing.report();
    Ok(())
}

/// What to do to see more.
const ALL: &str = "--limit 0 shows all";

struct Finder<'a> {
    database: &'a Database,
    selection: &'a Selection,
    args: &'a FindArgs,
}

impl Finder<'_> {
    /// How many hits are shown at most.
    fn limit(&self) -> Option<u32> {
        (self.args.limit > 0).then_some(self.args.limit)
    }

    /// Looks up a position.
    fn find(&self, query: &PositionQuery) -> anyhow::Result<()> {
        let fen = query.position.canonical_fen();
        for change in &query.changes {
            note(&change.to_string());
        }
        if !query.changes.is_empty() {
            note(&format!("looking for {fen}"));
        }
        let limit = self.limit();
        let search = Search {
            key: query.position.key(),
            fen: &fen,
            selection: self.selection,
            order: order(self.args.sort),
            // One more hit tells whether there are more, which is not always counted.
            limit: if self.selection.is_all() { limit } else { limit.and_then(|limit| limit.checked_add(1)) },
            offset: self.args.offset,
        };
        let (printer, shown) = self.show(|visit| self.database.visit_hits(&search, visit))?;
        if shown.hits == 0 {
            printer.finish(None)?;
            return self.explain_nothing(query, &search);
        }
        let is_end = limit.is_none_or(|limit| shown.hits < u64::from(limit));
        printer.finish(Some(self.total(&search, &shown, is_end)?))?;
        tell_variants(self.database, &query.position)
    }

    /// Looks at all positions.
    fn scan(&self, fits: impl Fn(&[u8]) -> bool + Sync) -> anyhow::Result<()> {
        let scan = Scan {
            selection: self.selection,
            order: order(self.args.sort),
            limit: self.limit().and_then(|limit| limit.checked_add(1)),
            offset: self.args.offset,
        };
        let (printer, shown) = self.show(|visit| self.database.scan(&scan, fits, visit))?;
        if shown.hits == 0 {
            printer.finish(None)?;
            explain_names(self.database, self.selection)?;
            note("no position of these games fits");
            return Ok(());
        }
        let text = match shown.is_more {
            true => format!("{} shown, and there are more; {ALL}", grouped(shown.hits)),
            false => counted(shown.hits, "game"),
        };
        printer.finish(Some(Total { text, is_more: shown.is_more }))
    }

    /// Prints the hits that come by.
    fn show(
        &self,
        walk: impl FnOnce(&mut dyn FnMut(Hit) -> bool) -> pgndex::store::Result<()>,
    ) -> anyhow::Result<(Printer<'_>, Shown)> {
        let mut printer = Printer::new(self.database, self.args.format)?;
        let (mut shown, mut printed) = (Shown::default(), Ok(()));
        let limit = self.limit();
        walk(&mut |hit| {
            if limit.is_some_and(|limit| shown.hits == u64::from(limit)) {
                shown.is_more = true;
                return false;
            }
            shown.count(&hit);
            printed = printer.hit(&hit);
            printed.is_ok()
        })?;
        printed?;
        Ok((printer, shown))
    }

    /// How many of how many are shown.
    fn total(&self, search: &Search<'_>, shown: &Shown, is_end: bool) -> anyhow::Result<Total> {
        let partly = |of: &str, is_more: bool| Total {
            text: match is_more {
                true => format!("{}{of} shown; {ALL}", grouped(shown.hits)),
                false => format!("{}{of} shown", grouped(shown.hits)),
            },
            is_more,
        };
        if is_end && self.args.offset == 0 {
            return Ok(Total { text: hits_in_games(shown.hits, shown.games), is_more: false });
        }
        let is_more = !is_end && (shown.is_more || self.selection.is_all());
        Ok(match self.database.count_hits(search)? {
            HitCount::Exact { occurrences, games } if occurrences == shown.hits => {
                Total { text: hits_in_games(occurrences, games), is_more: false }
            }
            HitCount::Exact { occurrences, games } => {
                let is_more = u64::from(self.args.offset) + shown.hits < occurrences;
                partly(&format!(" of {}", hits_in_games(occurrences, games)), is_more)
            }
            HitCount::Games(games) if shown.hits == shown.games => {
                partly(&format!(" of {}", counted(games, "game")), is_more)
            }
            HitCount::Games(games) => {
                let shown = hits_in_games(shown.hits, shown.games);
                let hint = if is_more { format!("; {ALL}") } else { String::new() };
                let all = counted(games, "game");
                Total { text: format!("{shown} shown; {all} reached the position{hint}"), is_more }
            }
            HitCount::AtLeast(0) if is_more => {
                Total { text: format!("{} shown, and there are more; {ALL}", grouped(shown.hits)), is_more }
            }
            HitCount::AtLeast(0) => partly("", is_more),
            HitCount::AtLeast(games) => partly(&format!(" of {} or more games", grouped(games)), is_more),
        })
    }

    /// Says why nothing was found, as far as it can be told.
    fn explain_nothing(&self, query: &PositionQuery, search: &Search<'_>) -> anyhow::Result<()> {
        let everywhere = Selection::default();
        let all = self.database.count_hits(&Search { selection: &everywhere, ..*search })?;
        if all == (HitCount::Exact { occurrences: 0, games: 0 }) {
            note(&format!("no game reached this position: {}", search.fen));
            if !query.line.is_empty() {
                self.explain_line(query)?;
            }
            return tell_variants(self.database, &query.position);
        }
        let reached = games_that_reached(all);
        explain_names(self.database, self.selection)?;
        if self.args.offset > 0
            && self.database.count_hits(search)? != (HitCount::Exact { occurrences: 0, games: 0 })
        {
            note(&format!("{reached} the position; --offset {} passes over all there is", self.args.offset));
        } else {
            note(&format!("{reached} the position, and none passes the filters"));
        }
        tell_variants(self.database, &query.position)
    }

    /// Tells how far the games of the database follow the moves.
    fn explain_line(&self, query: &PositionQuery) -> anyhow::Result<()> {
        let mut unplayed = query.line.last();
        for index in (0..query.line.len()).rev() {
            let (typed, position) = &query.line[index];
            let games = count_games(self.database, position)?;
            if games != (HitCount::Exact { occurrences: 0, games: 0 }) {
                let line = if index < 8 { moves_text(&query.line[..=index]) } else { format!("… {typed}") };
                let next = unplayed.map_or("", |(typed, _)| typed.as_str());
                note(&format!(
                    "{} the position after {line}; after {next} there is none",
                    games_that_reached(games)
                ));
                return Ok(());
            }
            unplayed = Some(&query.line[index]);
        }
        if query.line.len() > 1 {
            note(&format!("nor the position after {}", query.line[0].0));
        }
        Ok(())
    }
}

pub(crate) const fn order(sort: SortArg) -> HitOrder {
    match sort {
        SortArg::Game => HitOrder::Game,
        SortArg::Rating => HitOrder::Rating,
        SortArg::Date => HitOrder::Date,
    }
}

/// Moves one after the other; Black's have a number only if they come first.
fn moves_text(line: &[(String, Position)]) -> String {
    let mut text = String::new();
    for (index, (typed, _)) in line.iter().enumerate() {
        match typed.split_once("... ") {
            Some((_, word)) if index > 0 => text.extend([" ", word]),
            _ if index > 0 => text.extend([" ", typed]),
            _ => text.push_str(typed),
        }
    }
    text
}

/// `312 games`, or `45 occurrences in 43 games` if a position arose more than once in a game.
fn hits_in_games(hits: u64, games: u64) -> String {
    if hits == games {
        counted(games, "game")
    } else {
        format!("{} in {}", counted(hits, "occurrence"), counted(games, "game"))
    }
}

/// What has been shown.
#[derive(Debug, Default)]
struct Shown {
    hits: u64,
    games: u64,
    last: Option<GameId>,
    /// Whether there was another hit after the last.
    is_more: bool,
}

impl Shown {
    fn count(&mut self, hit: &Hit) {
        self.hits += 1;
        // In every order, the hits of a game come one after the other.
        self.games += u64::from(self.last.replace(hit.game.game) != Some(hit.game.game));
    }
}

/// How many of how many are shown, in words.
struct Total {
    text: String,
    is_more: bool,
}

/// Prints hits in one of the formats.
enum Printer<'a> {
    Rows { rows: RowWriter<Box<dyn Write>>, is_table: bool },
    Table(&'a Database),
    Pgn { database: &'a Database, out: Box<dyn Write>, text: String, last: Option<GameId> },
}

impl<'a> Printer<'a> {
    fn new(database: &'a Database, format: FindFormat) -> anyhow::Result<Self> {
        Ok(match format {
            // An empty table is not printed, not even its head.
            FindFormat::Table => Self::Table(database),
            FindFormat::Json => {
                Self::Rows { rows: RowWriter::stdout(RowFormat::Json, &FIELDS)?, is_table: false }
            }
            FindFormat::Csv => {
                Self::Rows { rows: RowWriter::stdout(RowFormat::Csv, &FIELDS)?, is_table: false }
            }
            FindFormat::Pgn => Self::Pgn { database, out: stdout(), text: String::new(), last: None },
        })
    }

    fn hit(&mut self, hit: &Hit) -> anyhow::Result<()> {
        if let Self::Table(database) = self {
            let digits = database.last_game()?.map_or(0, |game| game.0.to_string().len());
            let rows = RowWriter::stdout(RowFormat::Table, &TABLE)?.shortening(&NAMES);
            let rows = rows.reserving(TABLE[0], digits);
            *self = Self::Rows { rows, is_table: true };
        }
        match self {
            Self::Table(_) => Ok(()),
            Self::Rows { rows, is_table } => {
                let position = position(hit)?;
                rows.row(&if *is_table { table_row(&position, hit) } else { field_row(&position, hit) })
            }
            Self::Pgn { database, out, text, last } => {
                if last.replace(hit.game.game) != Some(hit.game.game) {
                    text.clear();
                    write_pgn(text, &database.game(hit.game.game)?)?;
                    out.write_all(shown(text).as_bytes())?;
                }
                Ok(())
            }
        }
    }

    /// Ends with how many are shown: below a table; for the other formats on standard error, if there are more.
    fn finish(self, total: Option<Total>) -> anyhow::Result<()> {
        match self {
            Self::Table(_) => {}
            Self::Rows { rows, is_table: true } => return rows.finish(|_| total.map(|total| total.text)),
            Self::Rows { rows, .. } => rows.finish(|_| None)?,
            Self::Pgn { mut out, .. } => out.flush()?,
        }
        if let Some(total) = total.filter(|total| total.is_more) {
            note(&total.text);
        }
        Ok(())
    }
}

/// The position of a hit.
fn position(hit: &Hit) -> anyhow::Result<Position> {
    let read = Position::from_fen(hit.fen.as_bytes()).with_context(|| {
        let (game, ply) = (hit.game.game.0, hit.ply.0);
        format!(
            "game_position game_id {game}, ply {ply}: fen is no legal position; `pgndex verify` tells all that is wrong"
        )
    });
    Ok(read?.0)
}

/// A move of a position in SAN; a code that does not fit it, in UCI.
fn san(position: &Position, code: MoveCode) -> String {
    match position.clone().make(code) {
        Ok(_) => position.san(code),
        Err(_) => code.uci(None).to_string(),
    }
}

fn table_row<'h>(position: &Position, hit: &'h Hit) -> Vec<Value<'h>> {
    let game = &hit.game;
    let number = number_before(hit.move_number(), position.side());
    let next = hit
        .next
        .map_or_else(|| "(last position)".to_owned(), |code| format!("{number} {}", san(position, code)));
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

fn field_row<'h>(position: &Position, hit: &'h Hit) -> Vec<Value<'h>> {
    let game = &hit.game;
    let side = if position.side() == Color::White { "w" } else { "b" };
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
        hit.move_number().into(),
        Value::from(side),
        hit.next.map_or(Value::Null, |code| san(position, code).into()),
        hit.next.map_or(Value::Null, |code| position.uci(code).to_string().into()),
        Value::from(hit.fen.as_str()),
    ]
}
