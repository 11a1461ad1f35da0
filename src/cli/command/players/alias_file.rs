//! Reads and writes lists of names as CSV.

use std::fs::File;
use std::io::Read as _;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use csv::{ErrorKind, Position, ReaderBuilder, StringRecord};
use pgndex::query::{AliasError, SpellingGames, SuggestedAlias};
use pgndex::store::PlayerAlias;

use crate::cli::args::RowFormat;
use crate::cli::render::{RowWriter, Value, counted};

const COLUMNS: [&str; 3] = ["name", "alias", "fide_id"];
/// Additional columns of suggestions, for people. Ignored when a list is read.
const SUGGESTED: [&str; 7] =
    ["why", "name_games", "name_years", "name_ratings", "alias_games", "alias_years", "alias_ratings"];

/// A parsed list.
pub(super) struct AliasFile {
    path: PathBuf,
    pub(super) rows: Vec<PlayerAlias>,
    /// The line at which each row begins.
    lines: Vec<u64>,
}

impl AliasFile {
    /// An error about a row, with the path and the line.
    pub(super) fn at(&self, index: usize, error: AliasError) -> anyhow::Error {
        let line = self.lines.get(index).copied().unwrap_or_default();
        anyhow!("{}:{line}: {error}; nothing was changed", self.path.display())
    }
}

/// Reads a list.
///
/// # Errors
/// If the file cannot be read or a line is invalid; the message contains the line.
pub(super) fn read(path: &Path) -> anyhow::Result<AliasFile> {
    let shown = path.display();
    /// The maximum size of a list, in bytes.
    const MOST: u64 = 64 << 20;
    let mut text = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST + 1).read_to_end(&mut text))
        .with_context(|| format!("{shown}: cannot be read; check the path and the permissions"))?;
    if text.len() as u64 > MOST {
        bail!("{shown}: more than {} MiB, too much for a list of names; is this the right file?", MOST >> 20);
    }
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_slice());
    let mut list = AliasFile { path: path.to_owned(), rows: Vec::new(), lines: Vec::new() };
    let mut columns = None;
    let mut record = StringRecord::new();
    loop {
        match reader.read_record(&mut record) {
            Ok(false) => break,
            Ok(true) => {}
            Err(error) => return Err(unreadable(path, error)),
        }
        let line = record.position().map_or(0, |position| line_at(&text, position));
        let read = match &columns {
            None => Columns::read(&record).map(|read| columns = Some(read)),
            Some(columns) => columns.row(&record).map(|row| {
                list.rows.push(row);
                list.lines.push(line);
            }),
        };
        read.map_err(|error| anyhow!("{shown}:{line}: {error}"))?;
    }
    if columns.is_none() {
        bail!("{shown}: the file is empty; its first line must be name,alias or name,alias,fide_id");
    }
    Ok(list)
}

/// The line at which the record from this position begins: empty lines may precede it.
fn line_at(text: &[u8], position: &Position) -> u64 {
    let start = usize::try_from(position.byte()).unwrap_or(usize::MAX);
    let rest = text.get(start..).unwrap_or_default().iter();
    let newlines =
        rest.take_while(|byte| matches!(byte, b'\r' | b'\n')).filter(|&&byte| byte == b'\n').count();
    position.line() + newlines as u64
}

fn unreadable(path: &Path, error: csv::Error) -> anyhow::Error {
    let shown = path.display();
    match error.kind() {
        ErrorKind::Utf8 { pos: Some(position), .. } => {
            anyhow!("{shown}:{}: not UTF-8; save the file as UTF-8", position.line())
        }
        _ => anyhow::Error::new(error).context(format!("{shown}: cannot be read")),
    }
}

/// The indexes of the columns.
struct Columns {
    count: usize,
    name: usize,
    alias: usize,
    fide_id: Option<usize>,
}

impl Columns {
    fn read(header: &StringRecord) -> anyhow::Result<Self> {
        const LINE: &str = "the first line must be name,alias or name,alias,fide_id";
        let names: Vec<String> = header
            .iter()
            .map(|name| name.trim_start_matches('\u{feff}').trim().to_ascii_lowercase())
            .collect();
        let is_known = |name: &&String| COLUMNS.iter().chain(&SUGGESTED).any(|column| column == name);
        if let Some(other) = names.iter().find(|name| !is_known(name)) {
            if let Some(sign) = other_separator(other) {
                bail!("separate the fields by commas, not by {sign}; {LINE}");
            }
            bail!("unknown column \"{other}\"; {LINE}");
        }
        let place = |column: &str| names.iter().position(|name| name == column);
        let twice = COLUMNS.iter().find(|&column| names.iter().filter(|name| name == column).count() > 1);
        if let Some(column) = twice {
            bail!("the column {column} occurs twice; {LINE}");
        }
        let needed =
            |column: &str| place(column).with_context(|| format!("the column {column} is missing; {LINE}"));
        Ok(Self {
            count: names.len(),
            name: needed("name")?,
            alias: needed("alias")?,
            fide_id: place("fide_id"),
        })
    }

    fn row(&self, record: &StringRecord) -> anyhow::Result<PlayerAlias> {
        let (fields, count) = (record.len(), self.count);
        let advice = match record.get(0) {
            _ if record.iter().any(is_continued) => "is a double quote not closed?",
            Some(first) if fields == 1 && other_separator(first).is_some() => "separate fields by commas",
            _ => "put names with commas in double quotes",
        };
        if fields != count {
            bail!("{}, but {}; {advice}", counted(fields as u64, "field"), counted(count as u64, "column"));
        }
        let text = |column: usize, what: &str| match record.get(column) {
            // Most likely a quote is not closed.
            Some(text) if is_continued(text) => {
                Err(anyhow!("the {what} continues after the end of the line; is a double quote not closed?"))
            }
            Some(text) if !text.trim().is_empty() => Ok(text.to_owned()),
            _ => Err(anyhow!("the {what} is empty; fill it in, or leave the line out")),
        };
        let fide_id =
            self.fide_id.and_then(|column| record.get(column)).map(str::trim).filter(|id| !id.is_empty());
        let fide_id = fide_id.map(|id| {
            let number = id.parse().ok().filter(|&number: &u32| number > 0);
            number.with_context(|| {
                format!("\"{id}\" is not a FIDE number; write its digits, or leave it empty")
            })
        });
        Ok(PlayerAlias {
            name: text(self.name, "name")?,
            alias: text(self.alias, "alias")?,
            fide_id: fide_id.transpose()?,
        })
    }
}

/// Whether a field extends over the end of a line, or contains a NUL character.
fn is_continued(field: &str) -> bool {
    field.contains(['\n', '\r', '\0'])
}

/// The separator that was used instead of commas, if any.
fn other_separator(field: &str) -> Option<&'static str> {
    [(';', "semicolons"), ('\t', "tabs")]
        .into_iter()
        .find(|(sign, _)| field.contains(*sign))
        .map(|(_, name)| name)
}

/// Writes a list to standard output.
///
/// # Errors
/// Errors of writing.
pub(super) fn write(rows: &[PlayerAlias]) -> anyhow::Result<()> {
    let mut writer = RowWriter::stdout(RowFormat::Csv, &COLUMNS)?;
    for row in rows {
        writer.row(&row_text(&row.name, &row.alias, row.fide_id))?;
    }
    writer.finish(|_| None)
}

/// Writes suggestions to standard output, each with its reason.
///
/// # Errors
/// Errors of writing.
pub(super) fn write_suggested(rows: &[SuggestedAlias]) -> anyhow::Result<()> {
    let mut writer = RowWriter::stdout(RowFormat::Csv, &[&COLUMNS[..], &SUGGESTED].concat())?;
    for row in rows {
        let mut values = row_text(&row.name, &row.alias, row.fide_id).to_vec();
        values.push(row.reason.to_string().into());
        for SpellingGames { games, years, ratings } in [&row.name_games, &row.alias_games] {
            values.push((*games).into());
            values.extend([years, ratings].map(|range| range.as_ref().map(shown).into()));
        }
        writer.row(&values)?;
    }
    writer.finish(|_| None)
}

fn row_text<'a>(name: &'a str, alias: &'a str, fide_id: Option<u32>) -> [Value<'a>; 3] {
    [name.into(), alias.into(), fide_id.into()]
}

fn shown(range: &RangeInclusive<u16>) -> Value<'static> {
    let (first, last) = (range.start(), range.end());
    if first == last { first.to_string().into() } else { format!("{first}-{last}").into() }
}
