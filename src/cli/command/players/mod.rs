//! `pgndex players`: lists the players of a database, and changes which names belong to one player.

mod alias_file;
mod change;

use std::io::Write as _;

use pgndex::query::{
    Aliases, LeftOut, ListedPlayer, ListedPlayers, PlayerOrder, PlayersQuery, similar_names, suggest_aliases,
};
use pgndex::store::{Database, GameFilter};

use crate::cli::args::{PlayerSortArg, PlayersArgs, RowFormat};
use crate::cli::filter_notes::{note_similar, note_unknown};
use crate::cli::render::board::sign;
use crate::cli::render::number::{counted, grouped};
use crate::cli::render::output::{RowWriter, Value, stdout, write_json};
use crate::cli::render::text::printable;
use crate::cli::terminal::log::note;

const TABLE: [&str; 5] = ["games", "from", "to", "name", "other spellings"];
const FIELDS: [&str; 8] =
    ["name", "fide_id", "games", "as_white", "as_black", "first_year", "last_year", "spellings"];
/// The columns to shorten if the terminal is narrow.
const NAMES: [&str; 2] = ["name", "other spellings"];

/// Lists the players, or changes which names belong to one player.
///
/// # Errors
/// If the database or a list cannot be read or written, a name is unknown or ambiguous, or names to merge
/// contradict each other or the database.
pub(crate) fn run(args: &PlayersArgs) -> anyhow::Result<()> {
    if !args.merge.is_empty() {
        return change::merge(&args.database, &args.merge);
    }
    if let Some(file) = &args.aliases {
        return change::read_aliases(&args.database, file);
    }
    if let Some(name) = &args.split {
        return change::split(&args.database, name);
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
    let order = match args.sort {
        PlayerSortArg::Games => PlayerOrder::Games,
        PlayerSortArg::Name => PlayerOrder::Name,
    };
    let limit = (args.limit > 0).then_some(args.limit);
    let players = PlayersQuery { database, name: args.name.as_ref(), order, limit, offset: args.offset };
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
            let mut rows = RowWriter::stdout(RowFormat::Table, &TABLE)?.shortening(&NAMES);
            listed.players.iter().try_for_each(|player| rows.row(&table_row(player)))?;
            return rows.finish(|_| Some(total));
        }
        RowFormat::Json => {
            let mut out = stdout();
            for player in &listed.players {
                write_json(&mut out, player)?;
            }
            out.flush()?;
        }
        RowFormat::Csv => {
            let mut rows = RowWriter::stdout(RowFormat::Csv, &FIELDS)?;
            listed.players.iter().try_for_each(|player| rows.row(&field_row(player)))?;
            rows.finish(|_| None)?;
        }
    }
    if shown < listed.total && shown > 0 {
        note(&total);
    }
    Ok(())
}

fn table_row(player: &ListedPlayer) -> [Value<'_>; 5] {
    let others = player.spellings.iter().filter(|spelling| spelling.name != player.name);
    let others: Vec<_> =
        others.map(|spelling| format!("{} ({})", spelling.name, grouped(spelling.games))).collect();
    [
        Value::Integer(player.games.try_into().unwrap_or(i64::MAX)),
        player.first_year.into(),
        player.last_year.into(),
        Value::from(player.name.as_str()),
        others.join("; ").into(),
    ]
}

fn field_row(player: &ListedPlayer) -> [Value<'_>; 8] {
    let number = |number: u64| Value::Integer(number.try_into().unwrap_or(i64::MAX));
    let spellings: Vec<_> = player.spellings.iter().map(|spelling| spelling.name.as_str()).collect();
    [
        Value::from(player.name.as_str()),
        player.fide_id.map_or(Value::Null, Value::from),
        number(player.games),
        number(player.as_white),
        number(player.as_black),
        player.first_year.into(),
        player.last_year.into(),
        spellings.join("; ").into(),
    ]
}
