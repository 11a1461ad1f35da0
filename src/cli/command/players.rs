//! `pgndex players`: lists the players of a database, or changes which names belong to one player.

use std::io::Write;
use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use csv::{ErrorKind, Position, ReaderBuilder, StringRecord};
use pgndex::query::{
    AliasError, Aliases, LeftOut, ListedPlayer, ListedPlayers, PlayersQuery, SpellingGames, SuggestedAlias,
    choose_name, similar_names, suggest_aliases,
};
use pgndex::read_start;
use pgndex::store::{Database, GameFilter, NameFilter, PlayerAlias};

use crate::cli::args::{PlayersArgs, RowFormat, SqlFormat};
use crate::cli::command::open_to_write;
use crate::cli::notes::{names_and_games, note_similar, note_unknown};
use crate::cli::render::{
    RowWriter, Value, all_hint, counted, grouped, printable, shell_word, stdout, write_json,
};
use crate::cli::terminal::note;

/// A column: its name, and the function that returns its value.
type Column = (&'static str, fn(&ListedPlayer) -> Value<'_>);

const TABLE: [Column; 5] = [
    ("games", |player| player.games.into()),
    ("from", |player| player.first_year.into()),
    ("to", |player| player.last_year.into()),
    ("name", |player| player.name.as_str().into()),
    ("other spellings", |player| {
        let others = player.spellings.iter().filter(|spelling| spelling.name != player.name);
        let others = others.map(|spelling| format!("{} ({})", spelling.name, grouped(spelling.games)));
        others.collect::<Vec<_>>().join("; ").into()
    }),
];
const FIELDS: [Column; 8] = [
    ("name", |player| player.name.as_str().into()),
    ("fide_id", |player| player.fide_id.into()),
    ("games", |player| player.games.into()),
    ("as_white", |player| player.as_white.into()),
    ("as_black", |player| player.as_black.into()),
    ("first_year", |player| player.first_year.into()),
    ("last_year", |player| player.last_year.into()),
    ("spellings", |player| {
        let spellings: Vec<_> = player.spellings.iter().map(|spelling| spelling.name.as_str()).collect();
        spellings.join("; ").into()
    }),
];
/// The columns to shorten if the terminal is narrow.
const NAMES: [&str; 2] = ["name", "other spellings"];

/// Lists the players, or changes which names belong to one player.
///
/// # Errors
/// If the database or a list cannot be read or written. If a name is unknown or ambiguous. If the names to merge
/// conflict with each other or with the database.
pub(crate) fn run(args: &PlayersArgs) -> anyhow::Result<()> {
    if !args.merge.is_empty() {
        return merge(&args.database, &args.merge);
    }
    if let Some(file) = &args.aliases {
        return read_aliases(&args.database, file);
    }
    if let Some(name) = &args.split {
        return split(&args.database, name);
    }
    let database = Database::open_read_only(&args.database)?;
    if args.export_aliases {
        return write_aliases(&Aliases::read(&database)?.rows());
    }
    if args.suggest {
        return suggest(&database);
    }
    list(args, &database)
}

/// Writes the suggestions to standard output, and prints notes on names that are left out.
fn suggest(database: &Database) -> anyhow::Result<()> {
    let suggested = suggest_aliases(database)?;
    for (LeftOut { names, most }, why) in [
        (&suggested.unclear, "could belong to several players"),
        (&suggested.several_fide_ids, "have games with several FIDE numbers"),
    ] {
        if *names > 0 {
            let most: Vec<_> = most.iter().map(|(name, games)| (name.as_str(), *games)).collect();
            let count = counted(*names, "name");
            let why = if *names == 1 { why.replacen("have", "has", 1) } else { why.to_owned() };
            note(&format!(
                "{count} {why} and {} left out: {}",
                if *names == 1 { "is" } else { "are" },
                names_and_games(&most, *names > most.len() as u64)
            ));
        }
    }
    write_suggested(&suggested.aliases)
}

fn list(args: &PlayersArgs, database: &Database) -> anyhow::Result<()> {
    let limit = (args.limit > 0).then_some(args.limit);
    let players =
        PlayersQuery { database, name: args.name.as_ref(), order: args.sort, limit, offset: args.offset };
    let listed = players.list()?;
    if let Some(searched) = &args.name {
        let filter = GameFilter { player: Some(searched.clone()), ..GameFilter::default() };
        let selection = database.select(&filter)?;
        let name = |_: &str| format!("\"{}\"", printable(searched.text()));
        note_unknown(&similar_names(database, &selection)?, &name);
        note_similar(database, &selection, &name)?;
    } else if listed.total == 0 {
        note("there are no players in this database");
    }
    if listed.total > 0 && listed.players.is_empty() {
        let count = counted(listed.total, "player");
        note(&format!("{count}; --offset {} skips all players", args.offset));
    }
    write(args.format, &listed, args.offset)
}

fn write(format: RowFormat, listed: &ListedPlayers, offset: u32) -> anyhow::Result<()> {
    let shown = listed.players.len() as u64;
    let total = match listed.total {
        total if total == shown => counted(total, "player"),
        total => {
            let hint = all_hint(u64::from(offset) + shown < total, offset);
            format!("{} of {} shown{hint}", grouped(shown), counted(total, "player"))
        }
    };
    match format {
        RowFormat::Table if listed.players.is_empty() => return Ok(()),
        RowFormat::Table => return write_rows(SqlFormat::Table, &TABLE, &listed.players, Some(total)),
        RowFormat::Json => {
            let mut out = stdout();
            listed.players.iter().try_for_each(|player| write_json(&mut out, player))?;
            out.flush()?;
        }
        RowFormat::Csv => write_rows(SqlFormat::Csv, &FIELDS, &listed.players, None)?,
    }
    if shown < listed.total && shown > 0 {
        note(&total);
    }
    Ok(())
}

fn write_rows(
    format: SqlFormat,
    columns: &[Column],
    players: &[ListedPlayer],
    last_line: Option<String>,
) -> anyhow::Result<()> {
    let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
    let mut rows = RowWriter::stdout(format, &names)?.shortening(&NAMES);
    for player in players {
        rows.row(&columns.iter().map(|(_, value)| value(player)).collect::<Vec<_>>())?;
    }
    rows.finish(last_line)
}

/// Calls `change` to change which names belong to one player, and writes either all of the changes or none. A
/// lock prevents other programs from writing meanwhile. If `change` returns a name, prints how many games the
/// player has now.
fn change(
    path: &Path,
    change: impl FnOnce(&Database, &mut Aliases) -> anyhow::Result<Option<String>>,
) -> anyhow::Result<()> {
    let (lock, database) = open_to_write(path)?;
    let mut aliases = Aliases::read(&database)?;
    let before = aliases.clone();
    let name = change(&database, &mut aliases)?;
    if aliases != before {
        aliases.write(&database, &lock)?;
    }
    name.map_or(Ok(()), |name| report_player(&database, &name))
}

/// Merges names into one player.
///
/// # Errors
/// If a name is unknown or ambiguous, FIDE numbers contradict each other, or the database cannot be written.
fn merge(path: &Path, names: &[String]) -> anyhow::Result<()> {
    let mut undo = None;
    change(path, |database, aliases| {
        let rows = aliases.rows();
        let is_single = |name: &String| !rows.iter().any(|row| [&row.name, &row.alias].contains(&name));
        let chosen =
            names.iter().map(|name| choose_name(database, aliases, name)).collect::<Result<Vec<_>, _>>()?;
        let Some((name, others)) = chosen.split_first() else { return Ok(None) };
        let before = aliases.clone();
        for other in others {
            aliases.merge(name, other)?;
        }
        for name in &chosen {
            let player = before.name_of(name);
            if !chosen.iter().any(|chosen| chosen == player) {
                let [name, player] = [name, player].map(printable);
                note(&format!(
                    "\"{name}\" was already another spelling of \"{player}\", so \"{player}\" is merged too"
                ));
            }
        }
        if let Some(unused) = unused(database, &chosen)? {
            note(&unused);
        }
        undo = match others {
            [other] if is_single(other) => Some(other.clone()),
            _ if chosen.iter().all(is_single) => Some(name.clone()),
            _ => None,
        };
        Ok(Some(name.clone()))
    })?;
    if let Some(name) = undo {
        let [path, name] = [&path.to_string_lossy(), &*name].map(shell_word);
        note(&format!("to undo this: pgndex players {path} --split {name}"));
    }
    Ok(())
}

/// Merges the names that a file lists.
///
/// # Errors
/// If the file cannot be read, or contradicts itself or the database; if the database cannot be written.
fn read_aliases(path: &Path, file: &Path) -> anyhow::Result<()> {
    let AliasFile { rows, lines } = read_list(file)?;
    change(path, |database, aliases| {
        let before = aliases.len();
        aliases.add(&rows).map_err(|(index, error)| {
            anyhow!("{}:{}: {error}; nothing was changed", file.display(), lines[index])
        })?;
        let unused = unused(database, rows.iter().map(|row| &row.alias))?;
        let unused = unused.map(|names| format!("; {names}")).unwrap_or_default();
        let (read, new) = (counted(rows.len() as u64, "spelling"), aliases.len().saturating_sub(before));
        note(&format!("{read} read ({} new){unused}", grouped(new as u64)));
        Ok(None)
    })
}

/// Undoes a merge. If `name` is the name under which a player is listed, separates all other names of this
/// player. If it is one of the other names, separates only this name.
///
/// # Errors
/// If the name is ambiguous or does not belong to a player with several names, or the database cannot be
/// written.
fn split(path: &Path, name: &str) -> anyhow::Result<()> {
    change(path, |database, aliases| {
        let name = match aliases.choose(name) {
            // If the name belongs to a player without other names, the error of `split` below says so.
            Err(AliasError::Unknown { .. }) => choose_name(database, aliases, name)?,
            chosen => chosen?,
        };
        let gone = aliases.split(&name)?;
        let names =
            gone.iter().map(|row| format!("\"{}\"", printable(&row.alias))).collect::<Vec<_>>().join(", ");
        let of = gone.first().map(|row| printable(&row.name)).unwrap_or_default();
        let are = if gone.len() == 1 { "is" } else { "are" };
        note(&format!("{names} {are} separate from \"{of}\" again"));
        Ok(None)
    })
}

/// Says which of these names have no games; `None` if all have games.
fn unused<'n>(
    database: &Database,
    names: impl IntoIterator<Item = &'n String>,
) -> anyhow::Result<Option<String>> {
    let mut is_used =
        database.connection().prepare("SELECT EXISTS (SELECT 1 FROM player WHERE name = ?1)")?;
    let mut unused = Vec::new();
    for name in names {
        if !is_used.query_row([name], |row| row.get::<_, bool>(0))? {
            unused.push(name);
        }
    }
    Ok(match unused.as_slice() {
        [] => None,
        [name] => Some(format!("\"{}\" is not in any game yet", printable(name))),
        names => Some(format!("{} of these names are not in any game yet", grouped(names.len() as u64))),
    })
}

/// Prints how many games a player has now.
fn report_player(database: &Database, name: &str) -> anyhow::Result<()> {
    let filter = NameFilter::Exactly(name.to_owned());
    let players =
        PlayersQuery { database, name: Some(&filter), order: Default::default(), limit: None, offset: 0 };
    let listed = players.list()?;
    let name = printable(name);
    match listed.players.first() {
        Some(player) => {
            let (games, spellings) =
                (counted(player.games, "game"), counted(player.spellings.len() as u64, "spelling"));
            note(&format!("\"{name}\" now has {games} under {spellings}"));
        }
        None => note(&format!("\"{name}\" has no games yet")),
    }
    Ok(())
}

const COLUMNS: [&str; 3] = ["name", "alias", "fide_id"];
/// Additional columns of suggestions, for people. They are ignored when a list is read.
const SUGGESTED: [&str; 7] =
    ["why", "name_games", "name_years", "name_ratings", "alias_games", "alias_years", "alias_ratings"];

/// A parsed list of names to merge.
struct AliasFile {
    rows: Vec<PlayerAlias>,
    /// The line at which each row begins.
    lines: Vec<u64>,
}

/// Reads a list of names to merge.
///
/// # Errors
/// If the file cannot be read, is empty or too large, or has an invalid line, whose number the message contains.
fn read_list(path: &Path) -> anyhow::Result<AliasFile> {
    let shown = path.display();
    /// The maximum size of a list, in bytes.
    const MOST: u64 = 64 << 20;
    let text = read_start(path, MOST + 1)
        .with_context(|| format!("{shown}: cannot be read; check the path and the permissions"))?;
    if text.len() as u64 > MOST {
        bail!("{shown}: more than {} MiB, too much for a list of names; is this the right file?", MOST >> 20);
    }
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_slice());
    let mut list = AliasFile { rows: Vec::new(), lines: Vec::new() };
    let mut columns = None;
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(|error| unreadable(path, error))? {
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

/// The number of the line at which the record after `position` begins. There can be empty lines between
/// `position` and the record.
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

/// The number of columns in a list, and the indexes of the columns that are read.
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
                format!("\"{id}\" is not a FIDE number; write only digits, or leave the field empty")
            })
        });
        Ok(PlayerAlias {
            name: text(self.name, "name")?,
            alias: text(self.alias, "alias")?,
            fide_id: fide_id.transpose()?,
        })
    }
}

/// Whether a field contains a line end or a NUL character.
fn is_continued(field: &str) -> bool {
    field.contains(['\n', '\r', '\0'])
}

/// The name of the separator that was used instead of commas, if any.
fn other_separator(field: &str) -> Option<&'static str> {
    [(';', "semicolons"), ('\t', "tabs")]
        .into_iter()
        .find(|(sign, _)| field.contains(*sign))
        .map(|(_, name)| name)
}

/// Writes a list of merged names to standard output.
///
/// # Errors
/// If writing fails.
fn write_aliases(rows: &[PlayerAlias]) -> anyhow::Result<()> {
    let mut writer = RowWriter::stdout(SqlFormat::Csv, &COLUMNS)?;
    for PlayerAlias { name, alias, fide_id } in rows {
        writer.row(&[name.as_str().into(), alias.as_str().into(), (*fide_id).into()])?;
    }
    writer.finish(None)
}

/// Writes suggestions to standard output, each with its reason.
///
/// # Errors
/// If writing fails.
fn write_suggested(rows: &[SuggestedAlias]) -> anyhow::Result<()> {
    let mut writer = RowWriter::stdout(SqlFormat::Csv, &[&COLUMNS[..], &SUGGESTED].concat())?;
    for row in rows {
        let mut values = vec![
            row.name.as_str().into(),
            row.alias.as_str().into(),
            row.fide_id.into(),
            row.reason.to_string().into(),
        ];
        for SpellingGames { games, years, ratings } in [&row.name_games, &row.alias_games] {
            values.push((*games).into());
            values.extend([years, ratings].map(|range| range.as_ref().map(shown).into()));
        }
        writer.row(&values)?;
    }
    writer.finish(None)
}

fn shown(range: &RangeInclusive<u16>) -> Value<'static> {
    let (first, last) = (range.start(), range.end());
    if first == last { first.to_string().into() } else { format!("{first}-{last}").into() }
}
