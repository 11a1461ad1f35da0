//! `pgndex players`: lists the players of a database, and changes which names belong to one player.

mod alias_file;

use std::io::Write;
use std::path::Path;

use pgndex::query::{
    AliasError, Aliases, LeftOut, ListedPlayer, ListedPlayers, PlayersQuery, choose_name, similar_names,
    suggest_aliases,
};
use pgndex::store::{Database, GameFilter, NameFilter, WriterLock};

use crate::cli::args::{PlayersArgs, RowFormat};
use crate::cli::notes::{note_similar, note_unknown};
use crate::cli::render::{RowWriter, Value, counted, grouped, printable, sign, stdout, write_json};
use crate::cli::terminal::note;

/// A column: its name and its value.
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
/// If the database or a list cannot be read or written, a name is unknown or ambiguous, or names to merge
/// contradict each other or the database.
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
        return alias_file::write(&Aliases::read(&database)?.rows());
    }
    if args.suggest {
        return suggest(&database);
    }
    list(args, &database)
}

/// Writes suggestions, and prints what is omitted.
fn suggest(database: &Database) -> anyhow::Result<()> {
    let suggested = suggest_aliases(database)?;
    for (LeftOut { names, most }, why) in [
        (&suggested.unclear, "could belong to several players"),
        (&suggested.several_fide_ids, "have games with several FIDE numbers"),
    ] {
        let mut named: Vec<_> = most
            .iter()
            .map(|(name, games)| format!("\"{}\" ({})", printable(name), grouped(*games)))
            .collect();
        if *names > most.len() as u64 {
            named.push(sign("…", "...").to_owned());
        }
        if *names > 0 {
            let count = counted(*names, "name");
            let why = if *names == 1 { why.replacen("have", "has", 1) } else { why.to_owned() };
            note(&format!(
                "{count} {why} and {} left out: {}",
                if *names == 1 { "is" } else { "are" },
                named.join(", ")
            ));
        }
    }
    alias_file::write_suggested(&suggested.aliases)
}

fn list(args: &PlayersArgs, database: &Database) -> anyhow::Result<()> {
    let limit = (args.limit > 0).then_some(args.limit);
    let players =
        PlayersQuery { database, name: args.name.as_ref(), order: args.sort, limit, offset: args.offset };
    let listed = players.list()?;
    if let Some(asked) = &args.name {
        let filter = GameFilter { player: Some(asked.clone()), ..GameFilter::default() };
        let selection = database.select(&filter)?;
        let name = |_: &str| format!("\"{}\"", printable(asked.text()));
        note_unknown(&similar_names(database, &selection)?, name);
        note_similar(database, &selection, name)?;
    } else if listed.total == 0 {
        note("there are no players in this database");
    }
    if listed.total > 0 && listed.players.is_empty() {
        let count = counted(listed.total, "player");
        note(&format!("{count}; --offset {} skips all players", args.offset));
    }
    write(args.format, &listed)
}

fn write(format: RowFormat, listed: &ListedPlayers) -> anyhow::Result<()> {
    let shown = listed.players.len() as u64;
    let total = match listed.total {
        total if total == shown => counted(total, "player"),
        total => format!("{} of {} shown; --limit 0 shows all", grouped(shown), counted(total, "player")),
    };
    match format {
        RowFormat::Table if listed.players.is_empty() => return Ok(()),
        RowFormat::Table => {
            return write_rows(format, &TABLE, &listed.players)?.finish(|_| Some(total));
        }
        RowFormat::Json => {
            let mut out = stdout();
            listed.players.iter().try_for_each(|player| write_json(&mut out, player))?;
            out.flush()?;
        }
        RowFormat::Csv => write_rows(format, &FIELDS, &listed.players)?.finish(|_| None)?,
    }
    if shown < listed.total && shown > 0 {
        note(&total);
    }
    Ok(())
}

fn write_rows(
    format: RowFormat,
    columns: &[Column],
    players: &[ListedPlayer],
) -> anyhow::Result<RowWriter<Box<dyn Write>>> {
    let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
    let mut rows = RowWriter::stdout(format, &names)?.shortening(&NAMES);
    for player in players {
        rows.row(&columns.iter().map(|(_, value)| value(player)).collect::<Vec<_>>())?;
    }
    Ok(rows)
}

/// Changes the names in one step: all or nothing. Nobody else can write between reading and writing.
fn change(
    path: &Path,
    change: impl FnOnce(&Database, &mut Aliases) -> anyhow::Result<Vec<String>>,
) -> anyhow::Result<()> {
    // Checked before locking, because a lock creates a file beside the database.
    drop(Database::open_read_only(path)?);
    let lock = WriterLock::acquire(path)?;
    let database = Database::open_read_only(path)?;
    let mut aliases = Aliases::read(&database)?;
    let before = aliases.clone();
    let told = change(&database, &mut aliases)?;
    drop(database);
    let database = Database::open(path)?;
    if aliases != before {
        aliases.write(&database, &lock)?;
    }
    drop(lock);
    for name in told {
        report_player(&database, &name)?;
    }
    Ok(())
}

/// Merges names into one player.
///
/// # Errors
/// If a name is ambiguous, FIDE numbers contradict each other, or the database cannot be written.
fn merge(path: &Path, names: &[String]) -> anyhow::Result<()> {
    change(path, |database, aliases| {
        let chosen =
            names.iter().map(|name| choose_name(database, aliases, name)).collect::<Result<Vec<_>, _>>()?;
        let Some((name, others)) = chosen.split_first() else { return Ok(Vec::new()) };
        for other in others {
            aliases.merge(name, other)?;
        }
        Ok(vec![name.clone()])
    })
}

/// Merges names into players according to a file.
///
/// # Errors
/// If the file cannot be read, contradicts itself or the database, or the database cannot be written.
fn read_aliases(path: &Path, file: &Path) -> anyhow::Result<()> {
    let list = alias_file::read(file)?;
    change(path, |database, aliases| {
        let before = aliases.len();
        aliases.add(&list.rows).map_err(|(index, error)| list.at(index, error))?;
        let mut unused = Vec::new();
        for row in &list.rows {
            if !has_games(database, &row.alias)? {
                unused.push(&row.alias);
            }
        }
        let (read, new) = (counted(list.rows.len() as u64, "spelling"), aliases.len().saturating_sub(before));
        let unused = match unused.as_slice() {
            [] => String::new(),
            [name] => format!("; \"{}\" is not in any game yet", printable(name)),
            names => format!("; {} of these names are not in any game yet", grouped(names.len() as u64)),
        };
        note(&format!("{read} read ({} new){unused}", grouped(new as u64)));
        Ok(Vec::new())
    })
}

/// Separates the names of a player.
///
/// # Errors
/// If the name is ambiguous or not one of a player with several names, or the database cannot be written.
fn split(path: &Path, name: &str) -> anyhow::Result<()> {
    change(path, |database, aliases| {
        let name = match aliases.choose(name) {
            // The name may be that of a player without other names.
            Err(AliasError::Unknown { .. }) => choose_name(database, aliases, name)?,
            chosen => chosen?,
        };
        let gone = aliases.split(&name)?;
        let names =
            gone.iter().map(|row| format!("\"{}\"", printable(&row.alias))).collect::<Vec<_>>().join(", ");
        let of = gone.first().map(|row| printable(&row.name)).unwrap_or_default();
        let are = if gone.len() == 1 { "is" } else { "are" };
        note(&format!("{names} {are} separate from \"{of}\" again"));
        Ok(Vec::new())
    })
}

fn has_games(database: &Database, name: &str) -> anyhow::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM player WHERE name = ?1)";
    Ok(database.connection().prepare_cached(sql)?.query_row([name], |row| row.get(0))?)
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
            note(&format!("\"{name}\" has {games} now, with {spellings}"));
        }
        None => note(&format!("\"{name}\" has no games yet")),
    }
    Ok(())
}
