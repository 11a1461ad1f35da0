//! Surveys of a database: statistics, openings, sources, problems.

use serde::Serialize;

use crate::query::{DatabaseContents, FoundProblems, OpeningList, Statistics};
use crate::server::answer::{Answer, Problem, Shape};
use crate::server::request::{Call, FILTER, Param, ParamType, filter};
use crate::server::route::{Lane, Route, route};
use crate::store::{Database, PROBLEM_KINDS, ProblemPage, SourceInfo};

const OPENINGS: &[Param] =
    &[Param::number("limit", 0..=u32::MAX, "Maximum number of openings; 0 (the default): all")];

const PROBLEM: &[Param] = &[
    Param::new("kind", ParamType::OneOf(PROBLEM_KINDS), "Return only problems of this kind"),
    Param::new("severity", ParamType::OneOf(&["warning", "error"]), "Return only problems of this severity"),
    Param::number("limit", 1..=5000, "Number of problems on a page, from 1 to 5,000; default 100"),
    Param::number("cursor", 0..=u32::MAX, "nextCursor of the previous page; without it, the first page"),
];

pub(super) const ROUTES: &[Route] = &[
    route("/api/info", info, Lane::Search, Shape::json::<DatabaseContents>())
        .about("The contents of the database, in the JSON format of `pgndex info`", &[]),
    route("/api/sources", sources, Lane::Search, Shape::json::<Sources>())
        .about("The files from which the database was made", &[]),
    route("/api/problems", problems, Lane::Search, Shape::json::<FoundProblems>())
        .about("Problems found in the files of the database, page by page", &[PROBLEM]),
    route("/api/statistics", statistics, Lane::Search, Shape::json::<Statistics>())
        .about("Games by result, year, rating and length", &[FILTER]),
    route("/api/openings", openings, Lane::Search, Shape::json::<OpeningList>())
        .about("Games by opening", &[OPENINGS, FILTER]),
];

fn info(_: &Call, database: &Database) -> Result<Answer, Problem> {
    Answer::json(&DatabaseContents::read(database, false)?)
}

/// The files from which a database was made.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Sources {
    /// One entry per reading of a file, in input order.
    sources: Vec<SourceInfo>,
}

fn sources(_: &Call, database: &Database) -> Result<Answer, Problem> {
    Answer::json(&Sources { sources: database.source_infos()? })
}

fn problems(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let page = ProblemPage {
        after: call.number("cursor").unwrap_or(0),
        limit: call.number("limit").unwrap_or(100),
        kind: call.text("kind"),
        severity: call.text("severity"),
    };
    Answer::json(&FoundProblems::read(database, &page)?)
}

fn statistics(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let selection = database.select(&filter(call)?)?;
    Answer::json(&Statistics::read(database, &selection)?)
}

fn openings(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let selection = database.select(&filter(call)?)?;
    let limit = call.limit();
    Answer::json(&OpeningList::read(database, &selection, limit.unwrap_or(usize::MAX))?)
}
