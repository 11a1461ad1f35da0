//! Exports games as files, which are sent while the games are read.

use std::io::{self, Write};

use crate::id::GameId;
use crate::query::{self, Choice, FindTarget, GameFields, choose_games, write_pgn};
use crate::server::answer::{Answer, CSV, PGN, Problem, Shape};
use crate::server::api::games::{SORT, order};
use crate::server::request::{Call, FILTER, POSITION, Param, TARGET, filter, target};
use crate::server::route::{Lane, Route, route};
use crate::store::{self, Database, GameAnnotations, HitOrder, Selection};

const PARAMS: &[Param] = &[
    SORT,
    Param::number("limit", 0..=u32::MAX, "Maximum number of games; 0 (the default): all"),
    Param::flag("plain", "Export only moves, without annotations"),
];

pub(super) const ROUTES: &[Route] = &[
    route("/api/export.pgn", pgn, Lane::Export, Shape::text(PGN)).about(
        "Games that pass filters, reached a position or match a description, as PGN",
        &[POSITION, TARGET, PARAMS, FILTER],
    ),
    route("/api/export.csv", csv, Lane::Export, Shape::text(CSV)).about(
        "Games that pass filters, reached a position or match a description, as CSV",
        &[POSITION, TARGET, PARAMS, FILTER],
    ),
];

/// The games to export.
struct Chosen {
    target: FindTarget,
    selection: Selection,
    order: HitOrder,
    limit: Option<u32>,
    is_plain: bool,
}

impl Chosen {
    fn read(call: &Call, database: &Database) -> Result<Self, Problem> {
        let target = target(call)?;
        if matches!(target, FindTarget::Like(_)) {
            return Err(Problem::parameter("like", "the nearest positions cannot be exported"));
        }
        Ok(Self {
            target,
            selection: database.select(&filter(call)?)?,
            order: order(call.text("sort")),
            limit: call.limit(),
            is_plain: call.flag("plain")?,
        })
    }

    fn visit(&self, database: &Database, mut write: impl FnMut(GameId) -> io::Result<()>) -> io::Result<()> {
        let choice = match &self.target {
            FindTarget::Position(query) => Choice::Reached(query, &self.selection, self.order),
            FindTarget::Sequence(sequence) => Choice::Passed(sequence, &self.selection, self.order),
            FindTarget::Games | FindTarget::Like(_) => Choice::Selection(&self.selection, self.order),
        };
        let mut left = self.limit;
        choose_games(database, choice, |game| {
            write(game)?;
            left = left.map(|left| left - 1);
            Ok(left != Some(0))
        })
    }
}

impl From<query::Error> for io::Error {
    fn from(error: query::Error) -> Self {
        Self::other(error)
    }
}

impl From<store::Error> for io::Error {
    fn from(error: store::Error) -> Self {
        query::Error::from(error).into()
    }
}

fn pgn(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let chosen = Chosen::read(call, database)?;
    let write = move |database: &Database, out: &mut dyn Write| {
        let mut text = String::new();
        chosen.visit(database, |game| {
            let annotations =
                if chosen.is_plain { GameAnnotations::default() } else { database.annotations(game)? };
            text.clear();
            write_pgn(&mut text, &database.game(game)?, &annotations).map_err(query::Error::from)?;
            out.write_all(text.as_bytes())
        })
    };
    Ok(Answer::StreamBody { content_type: PGN, file_name: "games.pgn", write: Box::new(write) })
}

fn csv(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let chosen = Chosen::read(call, database)?;
    let write = move |database: &Database, out: &mut dyn Write| {
        let mut rows = csv::WriterBuilder::new().has_headers(false).from_writer(out);
        rows.write_record(GameFields::NAMES)?;
        chosen.visit(database, |game| {
            let record = database.game(game)?;
            let fields = GameFields::from_record(&record).map_err(query::Error::from)?;
            Ok(rows.serialize(fields)?)
        })?;
        rows.flush()
    };
    Ok(Answer::StreamBody { content_type: CSV, file_name: "games.csv", write: Box::new(write) })
}
