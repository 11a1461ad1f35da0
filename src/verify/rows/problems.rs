//! Checks the table `problem` against its games and sources, and against the games' texts.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use crate::id::{GameId, SourceId};
use crate::index::{GameText, ProblemKind};
use crate::sorted::sort;
use crate::store::row::{ProblemRow, StoredId, StoredRow as _};
use crate::verify::FindingKind::{SourceText, WrongValue};
use crate::verify::rows::{Reader, StoredGame, StoredProblem, columns, for_each_row, read, shown};
use crate::verify::{Collector, RowId};

const TABLE: &str = "problem";

impl StoredProblem {
    fn row(&self) -> RowId {
        RowId::new([("problem_id", self.problem)])
    }
}

/// A text in quotes, for a message.
fn quoted(text: Option<&str>) -> String {
    shown(text.map(|text| format!("'{text}'")))
}

/// The number of problems of each source.
pub(crate) type ProblemCounts = HashMap<StoredId<SourceId>, i64>;

/// Compares the problems with their games and sources, and checks their kinds, severities and messages.
/// Returns the number of problems of each source.
pub(crate) fn check(Reader { connection, findings }: Reader<'_>) -> rusqlite::Result<ProblemCounts> {
    let mut counts = HashMap::new();
    let columns =
        StoredProblem::COLUMNS.iter().map(|column| format!("p.{column}")).collect::<Vec<_>>().join(", ");
    let sql = format!(
        "SELECT {columns}, g.source_id, g.ply_count, s.bytes FROM problem AS p
         LEFT JOIN game AS g ON g.game_id = p.game_id LEFT JOIN source AS s ON s.source_id = p.source_id"
    );
    for_each_row(connection, &sql, [], &mut |row| {
        // Values that are not numbers are reported by the scan of the table that contains them.
        let number = |column| row.get::<_, i64>(column).ok();
        let problem: StoredProblem = read(row, findings)?;
        *counts.entry(problem.source).or_default() += 1;
        let wrong = |column, expected: String, found: String| {
            findings.wrong(WrongValue, TABLE, problem.row(), column, expected, found);
        };
        if let Some(expected) = number(11).filter(|&expected| problem.source != expected.into()) {
            wrong("source_id", expected.to_string(), problem.source.to_string());
        }
        let kind = problem.kind.as_deref().and_then(ProblemKind::parse);
        // A variation can be longer than its game.
        let last = number(12).filter(|_| kind != Some(ProblemKind::VariationMove));
        if let Some((ply, plies)) = problem.ply.zip(last).filter(|(ply, plies)| ply.number() > *plies) {
            wrong("ply", format!("at most {plies}"), ply.to_string());
        }
        let offset = problem.byte_offset;
        if let Some(size) = number(13).filter(|&size| offset > size) {
            wrong("byte_offset", format!("at most {size}"), offset.to_string());
        }
        match kind {
            None => wrong("kind", "a kind of problem".to_owned(), quoted(problem.kind.as_deref())),
            Some(kind) if problem.severity.as_deref() != Some(kind.severity().as_str()) => {
                let expected =
                    format!("'{}', as for all problems of kind {}", kind.severity().as_str(), kind.as_str());
                wrong("severity", expected, quoted(problem.severity.as_deref()));
            }
            Some(_) => {}
        }
        if problem.message.as_deref().is_none_or(str::is_empty) {
            wrong("message", "a sentence".to_owned(), quoted(problem.message.as_deref()));
        }
        Ok(())
    })?;
    Ok(counts)
}

/// The problems of each game. They take eight bytes of memory per problem.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    /// Pairs of a game and the id of one of its problems, in ascending order.
    of_games: Vec<(GameId, u32)>,
}

impl Problems {
    /// Reads the list of problems. Ids that no game or problem can have are reported elsewhere.
    pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let sql = "SELECT game_id, problem_id FROM problem WHERE game_id IS NOT NULL";
        let mut of_games = Vec::new();
        for_each_row(connection, sql, [], &mut |row| {
            let id = |column| row.get::<_, i64>(column).ok().and_then(|id| u32::try_from(id).ok());
            of_games.extend(id(0).map(GameId).zip(id(1)));
            Ok(())
        })?;
        sort(&mut of_games);
        Ok(Self { of_games })
    }

    fn of(&self, game: StoredId<GameId>) -> &[(GameId, u32)] {
        let Some(game) = game.id() else { return &[] };
        let first = self.of_games.partition_point(|(other, _)| *other < game);
        let rest = &self.of_games[first..];
        &rest[..rest.partition_point(|(other, _)| *other == game)]
    }

    /// Compares the problems stored for a game with those found in its text.
    pub(crate) fn compare(
        &self,
        reader: Reader<'_>,
        game: &StoredGame,
        read: &GameText<'_>,
    ) -> rusqlite::Result<()> {
        let Reader { connection, findings } = reader;
        let parsed: Vec<_> = read.problems().collect();
        // Other versions of this program can have other messages.
        let sql = format!(
            "SELECT {}, (SELECT program_version <> ?2 FROM source JOIN import USING (import_id)
                 WHERE source.source_id = problem.source_id) IS TRUE
             FROM problem WHERE problem_id = ?1",
            columns::<StoredProblem>()
        );
        let mut statement = connection.prepare_cached(&sql)?;
        // Errors in the rows themselves are reported elsewhere.
        let discarded = Collector::new(0);
        let (mut stored, mut is_before, mut is_of_other_version) = (Vec::new(), false, false);
        for (_, id) in self.of(game.game) {
            let problem = statement.query_row(params![id, env!("CARGO_PKG_VERSION")], |row| {
                is_of_other_version = row.get(StoredProblem::COLUMNS.len())?;
                super::read::<StoredProblem>(row, &discarded)
            })?;
            // A problem in a damaged line before the first tag is stored for the game, but this line is not
            // part of the game's text.
            match problem.byte_offset < game.byte_offset {
                true => is_before = true,
                false => stored.push(problem),
            }
        }
        // The number of stored warnings per game is limited, and warnings about lines before the game's text
        // count too. So fewer warnings can be stored than the text alone causes.
        let may_have_more = is_before && parsed.len() > stored.len();
        if stored.len() != parsed.len() && !may_have_more {
            let (rows, parsed) = (stored.len(), parsed.len());
            let found = format!("problems in the game's text: {parsed}; in the table `problem`: {rows}");
            findings.about(SourceText, "game", RowId::game(game.game), found);
            return Ok(());
        }
        let first = stored.first().zip(parsed.first()).map(|(stored, parsed)| (stored, parsed.line));
        for (stored, parsed) in stored.iter().zip(parsed) {
            let mut message = parsed.message.of(read.text());
            // The last warning within the limit ends with a note that further warnings are not recorded.
            // Stored warnings about lines before the text also count, so `parsed` can have this note in a
            // later warning.
            if let Some(stored) = stored.message.as_deref()
                && (is_of_other_version || (is_before && stored.starts_with(message)))
            {
                message = stored;
            }
            let token = parsed.token.map(|token| token.of(read.text()));
            compare_row(findings, game, stored, (parsed, token, message), first);
        }
        Ok(())
    }
}

/// Compares a stored problem with a problem found in the text, which is given with its token and message. `first`
/// is the game's first stored problem, and the line of the same problem in the text.
fn compare_row(
    findings: &Collector,
    game: &StoredGame,
    stored: &StoredProblem,
    (parsed, token, message): (&ProblemRow, Option<&str>, &str),
    first: Option<(&StoredProblem, u64)>,
) {
    let wrong = |column, expected: String, found: String| {
        if expected != found {
            findings.wrong(SourceText, TABLE, stored.row(), column, expected, found);
        }
    };
    let offset = game.byte_offset.saturating_add_unsigned(parsed.byte_offset);
    wrong("byte_offset", offset.to_string(), stored.byte_offset.to_string());
    wrong("ply", shown(parsed.ply.map(|ply| ply.0)), shown(stored.ply));
    wrong("token", quoted(token), quoted(stored.token.as_deref()));
    wrong("kind", quoted(Some(parsed.kind)), quoted(stored.kind.as_deref()));
    wrong("severity", quoted(Some(parsed.severity.as_str())), quoted(stored.severity.as_deref()));
    wrong("message", quoted(Some(message)), quoted(stored.message.as_deref()));
    if parsed.line > 0 {
        wrong("column_number", parsed.column.to_string(), stored.column.to_string());
    }
    // The text of a single game does not show at which line of the file it begins. So line numbers are
    // compared relative to that of the game's first problem.
    if let Some((first, line)) = first {
        let begin = first.line.saturating_sub_unsigned(line);
        wrong("line", begin.saturating_add_unsigned(parsed.line).to_string(), stored.line.to_string());
        wrong("game_number", shown(first.game_number), shown(stored.game_number));
    }
}
