//! Findings: what is wrong, and where.

use std::fmt;
use std::sync::Mutex;

use rusqlite::Row;
use rusqlite::types::ValueRef;

use crate::id::{GameId, Ply};
use crate::parallel::{into_inner, lock};
use crate::sorted::SortedMap;
use crate::store::format_value;
use crate::store::row::StoredId;

/// A kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FindingKind {
    /// SQLite reports that the file is damaged, or the end of the file is missing.
    Integrity,
    /// Rows cannot be read.
    Unreadable,
    /// A table, index or view is missing or differs.
    Schema,
    /// A required row is missing.
    MissingRow,
    /// A row that is not needed, or should not exist.
    SurplusRow,
    /// A number refers to a missing row.
    DanglingLink,
    /// A count or total differs from the counted rows.
    WrongCount,
    /// A value is invalid, or differs from the value computed from other rows.
    WrongValue,
    /// A value differs from the PGN text.
    SourceText,
}

impl FindingKind {
    /// The word for this kind.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Integrity => "integrity",
            Self::Unreadable => "unreadable",
            Self::Schema => "schema",
            Self::MissingRow => "missing-row",
            Self::SurplusRow => "surplus-row",
            Self::DanglingLink => "dangling-link",
            Self::WrongCount => "wrong-count",
            Self::WrongValue => "wrong-value",
            Self::SourceText => "source-text",
        }
    }
}

/// A value of a row's primary key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

impl Id {
    /// The value of a cell of the key.
    pub(crate) fn of(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Integer(number) => Self::Number(number),
            ValueRef::Text(text) => Self::Text(String::from_utf8_lossy(text).into_owned()),
            other => Self::Text(format_value(other)),
        }
    }

    /// The value without quotes.
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

impl From<i64> for Id {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Id {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<I> From<StoredId<I>> for Id {
    fn from(id: StoredId<I>) -> Self {
        Self::Number(id.number())
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => write!(f, "'{text}'"),
        }
    }
}

/// Identifies a row of a table: columns and their values. Empty for the table as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowId(pub Vec<(&'static str, Id)>);

impl RowId {
    /// The row with these values in these columns.
    #[must_use]
    pub fn new<const N: usize>(columns: [(&'static str, impl Into<Id>); N]) -> Self {
        Self(columns.into_iter().map(|(name, id)| (name, id.into())).collect())
    }

    /// Reads the primary key of a table's row from the result of a query. In this result, the values of the
    /// columns `key` begin at the column `first`.
    pub(crate) fn read(row: &Row<'_>, first: usize, key: &[&'static str]) -> rusqlite::Result<Self> {
        let cell = |(index, &name)| Ok((name, Id::of(row.get_ref(first + index)?)));
        key.iter().enumerate().map(cell).collect::<rusqlite::Result<_>>().map(Self)
    }

    /// Adds a column that identifies the row.
    #[must_use]
    pub fn and(mut self, column: &'static str, id: impl Into<Id>) -> Self {
        self.0.push((column, id.into()));
        self
    }

    /// Identifies a row of `game`.
    pub(crate) fn game(game: StoredId<GameId>) -> Self {
        Self::new([("game_id", game)])
    }

    /// Identifies a row of `game_position`.
    pub(crate) fn position(game: StoredId<GameId>, ply: StoredId<Ply>) -> Self {
        Self::game(game).and("ply", ply)
    }
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The kind of damage.
    pub kind: FindingKind,
    /// The table.
    pub table: &'static str,
    /// The row.
    pub row: RowId,
    /// The column, if the finding concerns only one column.
    pub column: Option<&'static str>,
    /// The expected value; empty if the finding concerns a row or table as a whole.
    pub expected: String,
    /// The value found, or a description of what is wrong with the row or table as a whole.
    pub found: String,
}

impl Finding {
    /// Whether [`repair`](crate::index::repair) corrects the damage. It corrects data that is derived from
    /// the games and their positions, references to missing rows, and gaps in the ids of games.
    fn is_repairable(&self) -> bool {
        /// Tables of which `repair` writes all rows again.
        const REBUILT: [&str; 10] = [
            "deleted_game",
            "game_column",
            "game_set",
            "level_continuation",
            "level_position",
            "occurrence",
            "occurrence_level",
            "position_game",
            "position_key",
            "visit_set",
        ];
        /// Tables of which `repair` corrects counts and removes rows.
        const CORRECTED: [&str; 5] = ["event", "import", "player", "site", "source"];
        match self.kind {
            FindingKind::Schema | FindingKind::SourceText => false,
            // SQLite reports a value of a wrong type as 'non-INTEGER value in occurrence.ply'.
            FindingKind::Integrity => self
                .found
                .split_once(" value in ")
                .and_then(|(_, place)| place.split_once('.'))
                .is_some_and(|(table, _)| REBUILT.contains(&table)),
            FindingKind::Unreadable => REBUILT.contains(&self.table),
            FindingKind::DanglingLink => true,
            FindingKind::MissingRow if self.table == "game" => true,
            _ if self.table == "setting" => {
                ["last_game", "removed_games"].iter().any(|&name| self.row == RowId::new([("name", name)]))
            }
            // Of these tables, only counts are computed again.
            FindingKind::WrongValue if ["import", "source"].contains(&self.table) => false,
            _ if self.table == "game" => matches!(self.column, Some("ply_count" | "prefix_hash")),
            _ => {
                (REBUILT.contains(&self.table) || CORRECTED.contains(&self.table))
                    && self.column != Some("last_game")
            }
        }
    }
}

impl fmt::Display for Finding {
    /// `game_position game_id 7, ply 12: fen is …, expected …`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.table)?;
        for (index, (column, id)) in self.row.0.iter().enumerate() {
            write!(f, "{} {column} {id}", if index == 0 { "" } else { "," })?;
        }
        f.write_str(": ")?;
        if let Some(column) = self.column {
            write!(f, "{column} is ")?;
        }
        f.write_str(&self.found)?;
        match self.kind {
            _ if self.expected.is_empty() => Ok(()),
            FindingKind::DanglingLink => {
                let table = self.expected.strip_prefix("a row of ").unwrap_or(&self.expected);
                write!(f, ", but `{table}` has no such row")
            }
            _ => write!(f, ", expected {}", self.expected),
        }
    }
}

/// The number of all findings, and the first ones, ordered by kind, table and row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// The number of findings of each kind.
    pub counts: SortedMap<FindingKind, u64>,
    /// The number of findings that a repair corrects.
    pub repairable: u64,
    /// The first findings.
    pub first: Vec<Finding>,
}

impl Findings {
    /// The number of all findings.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Keeps the first findings. If several checks found the same, counts it once.
    fn keep(&mut self, limit: usize) {
        let Self { counts, repairable, first } = self;
        first.sort_unstable();
        first.dedup_by(|next, finding| {
            let is_same = next == finding;
            *counts.entry(finding.kind) -= u64::from(is_same);
            *repairable -= u64::from(is_same && finding.is_repairable());
            is_same
        });
        first.truncate(limit);
    }
}

/// Collects findings from all threads.
#[derive(Debug)]
pub(crate) struct Collector {
    limit: usize,
    findings: Mutex<Findings>,
}

impl Collector {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, findings: Mutex::default() }
    }

    pub(crate) fn add(&self, finding: Finding) {
        let mut findings = lock(&self.findings);
        *findings.counts.entry(finding.kind) += 1;
        findings.repairable += u64::from(finding.is_repairable());
        findings.first.push(finding);
        if findings.first.len() / 2 > self.limit {
            findings.keep(self.limit);
        }
    }

    /// Adds the findings of another collector. The limit of that collector must be at least the limit of this
    /// one.
    pub(crate) fn absorb(&self, others: Findings) {
        let mut findings = lock(&self.findings);
        for (kind, count) in others.counts {
            *findings.counts.entry(kind) += count;
        }
        findings.repairable += others.repairable;
        findings.first.extend(others.first);
        findings.keep(self.limit);
    }

    /// Reports a wrong value.
    pub(crate) fn wrong(
        &self,
        kind: FindingKind,
        table: &'static str,
        row: RowId,
        column: &'static str,
        expected: impl fmt::Display,
        found: impl fmt::Display,
    ) {
        let (expected, found) = (expected.to_string(), found.to_string());
        self.add(Finding { kind, table, row, column: Some(column), expected, found });
    }

    /// Reports a problem with a row or table as a whole.
    pub(crate) fn about(&self, kind: FindingKind, table: &'static str, row: RowId, found: impl fmt::Display) {
        let found = found.to_string();
        self.add(Finding { kind, table, row, column: None, expected: String::new(), found });
    }

    pub(crate) fn into_findings(self) -> Findings {
        let mut findings = into_inner(self.findings);
        findings.keep(self.limit);
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_findings_are_counted_and_the_first_are_kept_in_order() {
        let collector = Collector::new(3);
        for game in [9, 2, 7, 1, 2, 8] {
            let row = RowId::position(game.into(), 3.into());
            collector.wrong(FindingKind::WrongValue, "game_position", row, "key", 1, 2);
        }
        collector.about(FindingKind::MissingRow, "setting", RowId::default(), "no rows");
        let findings = collector.into_findings();
        assert_eq!(findings.total(), 6);
        assert_eq!(findings.counts.get(&FindingKind::WrongValue), Some(&5));
        let lines: Vec<String> = findings.first.iter().map(Finding::to_string).collect();
        assert_eq!(
            lines,
            [
                "setting: no rows",
                "game_position game_id 1, ply 3: key is 2, expected 1",
                "game_position game_id 2, ply 3: key is 2, expected 1",
            ]
        );
    }
}
