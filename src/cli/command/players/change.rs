//! Changes which names belong to one player.

use std::path::Path;

use pgndex::query::{AliasError, Aliases, PlayersQuery, choose_name};
use pgndex::store::{Database, NameFilter, WriterLock};

use crate::cli::command::players::alias_file;
use crate::cli::render::number::{counted, grouped};
use crate::cli::render::text::printable;
use crate::cli::terminal::log::note;

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
pub(super) fn merge(path: &Path, names: &[String]) -> anyhow::Result<()> {
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
pub(super) fn read_aliases(path: &Path, file: &Path) -> anyhow::Result<()> {
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
pub(super) fn split(path: &Path, name: &str) -> anyhow::Result<()> {
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
