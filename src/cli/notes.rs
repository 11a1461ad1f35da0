//! Notes that explain why a search finds no games, or fewer than expected. Possible reasons: unknown or
//! ambiguous names, filters that exclude all games, and an almost equal position that more games reached.

use pgndex::board::Position;
use pgndex::query::{
    AlternativeValues, CountedGames, Difference, SeveralPlayers, SimilarNames, SimilarPlayer, Variant,
    WithoutFilter, alternative_values, filters_given, is_one_player_twice, several_players, similar_players,
    variants, without_one_filter,
};
use pgndex::store::{Database, GameFilter, HitCount, Lines, NameFilter, Named, Selection};

use crate::cli::render::{counted, grouped, printable, shell_word, sign};
use crate::cli::terminal::note;

/// The maximum number of players listed for a name.
const SHOWN: usize = 5;

/// Prints the names that do not occur in the database, each with similar names. `option` returns the words for a
/// field of [`GameFilter`], usually the option that sets it.
pub(crate) fn note_unknown(unknown: &[SimilarNames], option: &dyn Fn(&str) -> String) {
    for SimilarNames { field, named, wanted, near, elsewhere } in unknown {
        let of = match named {
            Named::Player => "player",
            Named::Event => "event",
            Named::Site => "site",
            Named::Opening => "opening",
        };
        let name = format!("\"{}\"", printable(wanted));
        let other = elsewhere
            .map(|other| format!("; {} matches {}", option(other.field), counted(other.games, "game")));
        let option = option(field);
        // For a name that was given without an option, `option` returns the name itself.
        let is_the_name = option.trim_matches('"') == printable(wanted).trim_start_matches('=');
        let name = if is_the_name { name } else { format!("{name} ({option})") };
        let near: Vec<_> = near.iter().map(|name| format!("\"{}\"", printable(name))).collect();
        let hint = match near.split_last() {
            None => String::new(),
            Some((last, [])) => format!("; did you mean {last}?"),
            Some((last, others)) => format!("; did you mean {} or {last}?", others.join(", ")),
        };
        note(&format!("no {of} has a name that matches {name}{}{hint}", other.unwrap_or_default()));
    }
}

/// Prints the names that match several players, and the names for which a similar name has many more games.
/// For `option`, see [`note_unknown`].
pub(crate) fn note_players(
    database: &Database,
    selection: &Selection,
    option: &dyn Fn(&str) -> String,
) -> anyhow::Result<()> {
    note_several(database, selection, option)?;
    note_similar(database, selection, option)
}

/// Prints the names that match several players, and returns whether there are any. For `option`, see
/// [`note_unknown`].
pub(crate) fn note_several(
    database: &Database,
    selection: &Selection,
    option: &dyn Fn(&str) -> String,
) -> anyhow::Result<bool> {
    let several = several_players(database, selection, SHOWN + 1)?;
    for SeveralPlayers { field, players, most } in &several {
        let most: Vec<_> = most.iter().map(|player| (player.name.as_str(), player.games)).collect();
        note_matching(&option(field), *players, &most);
    }
    Ok(!several.is_empty())
}

/// Prints that a name matches several players: the number of players, and the players with the most games.
pub(crate) fn note_matching(name: &str, players: u64, most: &[(&str, u64)]) {
    let names = match names_and_games(&most[..most.len().min(SHOWN)], most.len() > SHOWN) {
        names if names.is_empty() => names,
        names => format!(": {names}"),
    };
    let first = most.first().map_or("NAME".to_owned(), |(name, _)| printable(name));
    note(&format!(
        "{name} matches {}{names}; to choose one, give it exactly: {}",
        counted(players, "player"),
        shell_word(&format!("={first}"))
    ));
}

/// Names with their numbers of games, as text. If `is_more` is true, an ellipsis follows.
pub(crate) fn names_and_games(names: &[(&str, u64)], is_more: bool) -> String {
    let name = |(name, games): &(&str, u64)| format!("\"{}\" ({})", printable(name), grouped(*games));
    let ellipsis = is_more.then(|| sign("…", "...").to_owned());
    names.iter().map(name).chain(ellipsis).collect::<Vec<_>>().join(", ")
}

/// For each player's name in the filters, prints the similar name with the most games, if it has many more
/// games. For `option`, see [`note_unknown`].
pub(crate) fn note_similar(
    database: &Database,
    selection: &Selection,
    option: &dyn Fn(&str) -> String,
) -> anyhow::Result<()> {
    for SimilarPlayer { field, found, found_games, near, near_games } in similar_players(database, selection)?
    {
        let merge = [near.as_str(), &found].map(shell_word).join(" ");
        note(&format!(
            "{} matches \"{}\" ({}), and \"{}\" has {}; if this is the same player: pgndex players {} --merge {merge}",
            option(field),
            printable(&found),
            counted(found_games, "game"),
            printable(&near),
            counted(near_games, "game"),
            shell_word(&database.path().to_string_lossy()),
        ));
    }
    Ok(())
}

/// Prints why no game in `counted` passes all filters: values that would let games pass, and how many games pass
/// without one of the filters. `option` returns the option of a field, or `None` for a filter that the user
/// cannot remove. The caller has already printed unknown names.
pub(crate) fn note_filtered_out(
    database: &Database,
    filter: &GameFilter,
    counted: CountedGames<'_>,
    option: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<()> {
    if is_one_player_twice(database, filter)? {
        note("both names belong to one player, and no game has the same player on both sides");
        return Ok(());
    }
    let is_name =
        |field| matches!(field, "white" | "black" | "player" | "opponent" | "event" | "site" | "opening");
    let (mut reasons, mut unexplained) = (Vec::new(), Vec::new());
    let excluding = alternative_values(database, filter)?;
    let is_any_alone = !excluding.is_empty();
    for (field, instead) in excluding {
        match instead {
            Some(instead) => {
                reasons.push(alternative_text(field, instead, &option(field).unwrap_or_default()))
            }
            None if is_name(field) => {}
            None => unexplained.extend(option(field)),
        }
    }
    // Without ratings, --elo-min and --elo-max have the same reason.
    reasons.dedup();
    reasons.iter().for_each(|reason| note(reason));
    let is_described = matches!(counted, CountedGames::Matching { .. });
    if filters_given(filter) < 2 && !is_described {
        // The only filter excludes all games.
        return Ok(());
    }
    if note_without_one(database, filter, counted, option)? {
        return Ok(());
    }
    unexplained.iter().for_each(|option| note(&format!("no game passes {option}")));
    if !is_any_alone && !is_described {
        note("no game passes even if one of the filters is left out; leave out two or more");
    }
    Ok(())
}

/// For each filter, counts the games that pass all other filters, and prints this number unless it is 0.
/// Returns whether anything was printed.
fn note_without_one(
    database: &Database,
    filter: &GameFilter,
    counted_games: CountedGames<'_>,
    option: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<bool> {
    let found = without_one_filter(database, filter, counted_games)?;
    // Both names can be values of --player, so the option does not say which of them is meant.
    let has_two_names = filter.opponent.is_some() && option("player").is_some();
    let describe = |without: &WithoutFilter| {
        let condition = match (without.field, option(without.field)?) {
            ("player", _) if has_two_names => "for the second player alone".to_owned(),
            ("opponent", _) if has_two_names => "for the first player alone".to_owned(),
            (_, option) => format!("without {option}"),
        };
        Some(format!("{} {condition}", counted(without.games, "game")))
    };
    let descriptions: Vec<_> = found.iter().filter_map(describe).collect();
    if let Some((last, others)) = descriptions.split_last() {
        let others = if others.is_empty() { String::new() } else { format!("{}, or ", others.join(", ")) };
        note(&format!("there would be {others}{last}"));
    }
    // If games pass without the filter `player`, the name in `opponent` has games, and vice versa.
    let alone = |field| found.iter().any(|without| without.field == field);
    if alone("player") && alone("opponent") {
        let path = shell_word(&database.path().to_string_lossy());
        note(&format!(
            "with two names, only games between these two players are found; if both are names of one player, merge them: pgndex players {path} --merge NAME NAME"
        ));
    }
    Ok(!descriptions.is_empty())
}

/// The number of games with moves that pass the filters. If only games without moves pass, prints a note and
/// returns `None`.
pub(crate) fn count_or_note_skipped(
    database: &Database,
    selection: &Selection,
) -> anyhow::Result<Option<u64>> {
    let passing = database.count_games_of(selection)?;
    let games = if passing > 0 { 0 } else { database.count_skipped_games_of(selection)? };
    if games > 0 {
        let what = if selection.is_all() {
            "the database has only games without moves"
        } else {
            "only games without moves pass the filters"
        };
        let games = grouped(games);
        note(&format!("{what}, {games} in total; their variant is not supported, or their FEN is invalid"));
    }
    Ok((games == 0).then_some(passing))
}

/// For a filter that excludes all games: which values of its field the games have, as text.
fn alternative_text(field: &str, instead: AlternativeValues, option: &str) -> String {
    match instead {
        AlternativeValues::Dates(Some((first, last))) => {
            format!("the games in the database are from {first} to {last}")
        }
        AlternativeValues::Dates(None) => "no game has a date".to_owned(),
        AlternativeValues::NoRatings => "no game has the ratings of both players".to_owned(),
        AlternativeValues::NoEvaluations => {
            "no game has evaluations: the PGN has none, or `index --annotations none` did not store them"
                .to_owned()
        }
        AlternativeValues::Values(values) if values.is_empty() && field == "speeds" => {
            "no game has a known speed, which is computed from the tag TimeControl".to_owned()
        }
        AlternativeValues::Rating(rating) => {
            let which = if field == "elo_min" { "highest" } else { "lowest" };
            format!("{option} applies to both players; the {which} value that matches a game is {rating}")
        }
        AlternativeValues::Plies(plies) => {
            let which = if field == "plies_min" { "longest" } else { "shortest" };
            format!("the {which} game has {}", counted(plies, "half-move"))
        }
        AlternativeValues::Values(values) if values.is_empty() => {
            let tag = match field {
                "time_control" => "TimeControl",
                "termination" => "Termination",
                _ => "Variant",
            };
            format!("no game has the tag {tag}")
        }
        AlternativeValues::Values(values) => {
            let values: Vec<_> = values.iter().map(|value| format!("\"{}\"", printable(value))).collect();
            format!("frequent values of {option} in this database: {}", values.join(", "))
        }
    }
}

/// The conditions of a filter in words, one text per condition. The field `player` is omitted, because the
/// words are printed with the record of this player.
pub(crate) fn filters_in_words(filter: &GameFilter) -> Vec<String> {
    /// Joins values with "or"; `None` if there are none.
    fn either<T: ToString>(texts: &[T]) -> Option<String> {
        let texts: Vec<_> = texts.iter().map(T::to_string).collect();
        (!texts.is_empty()).then(|| texts.join(" or "))
    }
    fn shown<T: ToString>(value: Option<&T>) -> Option<String> {
        value.map(T::to_string)
    }
    let name = |filter: &Option<NameFilter>| filter.as_ref().map(|name| name.text().to_owned());
    let paths: Vec<_> = filter.sources.iter().map(|path| path.to_string_lossy()).collect();
    let conditions = [
        ("White", name(&filter.white)),
        ("Black", name(&filter.black)),
        ("opponent", name(&filter.opponent)),
        ("ratings from", shown(filter.elo_min.as_ref())),
        ("ratings up to", shown(filter.elo_max.as_ref())),
        ("since", shown(filter.since.as_ref())),
        ("until", shown(filter.until.as_ref())),
        ("result", filter.result.map(|result| result.as_str().to_owned())),
        ("event", name(&filter.event)),
        ("site", name(&filter.site)),
        ("opening", name(&filter.opening)),
        ("ECO of the tag", shown(filter.eco.as_ref())),
        ("ECO of the positions", shown(filter.opening_eco.as_ref())),
        ("speed", either(&filter.speeds)),
        ("time control", filter.time_control.clone()),
        ("termination", filter.termination.clone()),
        ("half-moves from", shown(filter.plies_min.as_ref())),
        ("half-moves up to", shown(filter.plies_max.as_ref())),
        ("with", filter.with_evals.then(|| "evaluations".to_owned())),
        ("source", either(&paths)),
        ("variant", filter.variant.clone()),
    ];
    conditions.into_iter().filter_map(|(what, value)| Some(format!("{what} {}", value?))).collect()
}

/// Prints each position that has the same pieces on the same squares as `position` but was reached by many
/// more games, or by any game if none reached `position`.
///
/// # Errors
/// Errors of SQLite.
pub(crate) fn note_variants(database: &Database, position: &Position, lines: Lines) -> anyhow::Result<()> {
    for Variant { fen, differences, reached } in variants(database, position, lines)? {
        let names: Vec<_> = differences.into_iter().map(name).collect();
        note(&format!(
            "{} the same placement with {}: {fen}",
            games_that_reached(reached),
            names.join(" and ")
        ));
    }
    Ok(())
}

/// The lines to search: only the main lines, or the variations too. Prints a note if `variations` is true but
/// the database has no variations.
///
/// # Errors
/// Errors of SQLite.
pub(crate) fn read_lines(database: &Database, variations: bool) -> anyhow::Result<Lines> {
    if !variations {
        return Ok(Lines::Main);
    }
    if !database.has_variations()? {
        note(
            "no game of this database has a variation; `index --annotations all` stores the variations of the PGN",
        );
    }
    Ok(Lines::All)
}

const fn name(difference: Difference) -> &'static str {
    match difference {
        Difference::Side => "the other side to move",
        Difference::Castling => "other castling rights",
        Difference::EnPassant => "another en-passant square",
    }
}

pub(crate) fn games_that_reached(count: HitCount) -> String {
    match count {
        HitCount::Exact { games, .. } | HitCount::Games(games) => {
            format!("{} reached", counted(games, "game"))
        }
        HitCount::AtLeast(games) => format!("{} or more games reached", grouped(games)),
    }
}
