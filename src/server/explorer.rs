//! The routes of Lichess's opening explorer.
//!
//! Requests are parsed leniently: unknown parameters and invalid values are ignored. Only an invalid position
//! and a missing player are errors.

use std::ops::RangeInclusive;

use crate::board::Color;
use crate::pgn::Speed;
use crate::query::{ExploreQuery, ExplorerAnswer, PositionQuery, game_of_code};
use crate::server::answer::{Answer, JSON_LINES, PGN, Problem, Shape};
use crate::server::api::pgn_of;
use crate::server::request::{Call, Param, played_from};
use crate::server::route::{Lane, Route, route};
use crate::store::{Database, DatePrefix, GameFilter, Lines, ListLengths, NameFilter};

const POSITION: &[Param] = &[
    Param::text("fen", "The position as a FEN; default the start position"),
    Param::text("play", "Moves played from that position, in UCI notation, separated by commas"),
    Param::number("moves", 0..=u32::MAX, "Maximum number of moves; default 12"),
    Param::number("topGames", 0..=15, "Maximum number of games in the list of top-rated games"),
    Param::number("recentGames", 0..=15, "Maximum number of games in the list of latest games"),
    Param::text(
        "variant",
        "The variant: standard (the default), chess960, fromPosition and other names of Lichess",
    ),
    Param::text(
        "speeds",
        "Speeds in the classes of Lichess, separated by commas; default all. /masters ignores this parameter",
    ),
    Param::text(
        "ratings",
        "Bands of the players' mean rating, by their lower ends, separated by commas; default all",
    ),
    Param::text("modes", "rated, casual, or both separated by a comma (the default)"),
    Param::text("since", "The first year or month, such as 2021 or 2021-06"),
    Param::text("until", "The last year or month, such as 2021 or 2021-06"),
    Param::text("player", "Only for /player, and required there: the full account name, in any letter case"),
    Param::flag("history", "Also count the games by month"),
    Param::text("color", "Only for /player: the player's side, white (the default) or black"),
];

pub(super) const ROUTES: &[Route] = &[
    route("/lichess", lichess, Lane::Quick, ANSWER).lenient().about("The moves played from a position, in the form of Lichess's explorer of its own games", &[POSITION]),
    route("/masters", masters, Lane::Quick, ANSWER).lenient().about("The moves played from a position, in the form of Lichess's explorer of masters' games", &[POSITION]),
    route("/player", player, Lane::Quick, Shape::json_lines::<ExplorerAnswer>()).lenient().about("The moves played from a position in one player's games with one side, in the form of Lichess's explorer", &[POSITION]),
    route("/masters/pgn/{id}", pgn, Lane::Quick, Shape::text(PGN)).lenient().about("A game as PGN", &[]),
    route("/master/pgn/{id}", pgn, Lane::Quick, Shape::text(PGN)).lenient().about("A game as PGN", &[]),
];

const ANSWER: Shape = Shape::json::<ExplorerAnswer>();

fn lichess(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let params = ExplorerParams(call);
    let filter = GameFilter { speeds: speeds(params), ..params.filter(database)? };
    Answer::json(&explore(params, database, &filter, None, ListLengths { top: 4, recent: 4 })?)
}

fn masters(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let params = ExplorerParams(call);
    let filter = params.filter(database)?;
    Answer::json(&explore(params, database, &filter, None, ListLengths { top: 15, recent: 0 })?)
}

fn player(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let params = ExplorerParams(call);
    let name = params.player().ok_or_else(|| Problem::parameter("player", "give the name of a player"))?;
    let filter = GameFilter { speeds: speeds(params), player: Some(name), ..params.filter(database)? };
    let is_black = params.word("color").is_some_and(|word| word.eq_ignore_ascii_case("black"));
    let side = if is_black { Color::Black } else { Color::White };
    let filter = filter.with_side(side).map_err(|error| Problem::parameter("player", error))?;
    let mut answer = explore(params, database, &filter, Some(side), ListLengths { top: 0, recent: 8 })?;
    answer.queue_position = Some(0);
    let json = serde_json::to_string(&answer).map_err(|error| Problem::damaged(error.to_string()))?;
    Ok(Answer::text(JSON_LINES, json + "\n"))
}

fn speeds(params: ExplorerParams<'_>) -> Vec<Speed> {
    let speeds = Vec::from_iter(params.words("speeds").filter_map(Speed::named));
    // If all speeds are selected, games with an unknown speed are included too.
    if Speed::ALL.iter().all(|speed| speeds.contains(speed)) { Vec::new() } else { speeds }
}

fn explore(
    params: ExplorerParams<'_>,
    database: &Database,
    filter: &GameFilter,
    side: Option<Color>,
    lists: ListLengths,
) -> Result<ExplorerAnswer, Problem> {
    let query = params.position()?;
    let mut selection = database.select(filter)?;
    // No game matches if the time span ends before it begins.
    if filter.check().is_err() {
        selection.narrow_to_mean_ratings(&[]);
    }
    let bands = params.bands();
    if !bands.is_empty() {
        selection.narrow_to_mean_ratings(&bands);
    }
    let has_mode = |mode: &str| params.words("modes").any(|word| word == mode);
    if has_mode("casual") != has_mode("rated") {
        database.narrow_to_casual(&mut selection, has_mode("casual"))?;
    }
    let most = |name, length| params.number(name).map_or(length, |number: u32| number.min(255) as u8);
    let explore = ExploreQuery {
        database,
        query: &query,
        lines: Lines::Main,
        selection: &selection,
        side,
        lists: ListLengths { top: most("topGames", lists.top), recent: most("recentGames", lists.recent) },
        limit: Some(params.number("moves").unwrap_or(12)),
        counts_transposed: false,
        openings: None,
    };
    let mut answer = ExplorerAnswer::new(database, &query.position, explore.answer()?)?;
    // Clients also write `True`, `on` and `1`.
    let is_yes = |word: &str| ["true", "on", "1"].iter().any(|yes| word.eq_ignore_ascii_case(yes));
    if params.word("history").is_some_and(is_yes) {
        answer.history = Some(explore.months()?);
    }
    Ok(answer)
}

fn pgn(call: &Call, database: &Database) -> Result<Answer, Problem> {
    let game = game_of_code(database, &call.id)?;
    pgn_of(database, game.ok_or_else(|| Problem::not_found("There is no game with this id."))?, false)
}

/// The lower bounds of the rating bands. Each band ends just below the next one.
const BANDS: [u16; 9] = [0, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2500];

/// The names of variants in URLs, and in PGN.
const VARIANTS: [(&str, &str); 8] = [
    ("chess960", "Chess960"),
    ("fromPosition", "From Position"),
    ("crazyhouse", "Crazyhouse"),
    ("antichess", "Antichess"),
    ("atomic", "Atomic"),
    ("horde", "Horde"),
    ("kingOfTheHill", "King of the Hill"),
    ("threeCheck", "Three-check"),
];

/// The request, parsed leniently.
#[derive(Clone, Copy)]
struct ExplorerParams<'c>(&'c Call);

impl<'c> ExplorerParams<'c> {
    /// The words of a parameter. A client can repeat the parameter, separate words with commas, and append
    /// `[]` to the name.
    fn words(self, name: &'static str) -> impl Iterator<Item = &'c str> {
        let is_named = move |other: &str| other.strip_suffix("[]").unwrap_or(other) == name;
        let values = self.0.query.iter().filter(move |(other, _)| is_named(other));
        values.flat_map(|(_, value)| value.split(',')).map(str::trim).filter(|word| !word.is_empty())
    }

    fn word(self, name: &'static str) -> Option<&'c str> {
        self.words(name).next()
    }

    /// The value of a parameter as a number; an invalid value counts as missing.
    fn number(self, name: &'static str) -> Option<u32> {
        self.word(name)?.parse().ok()
    }

    /// The position. An invalid position is an error: if it were ignored, the answer would be for another
    /// position.
    fn position(self) -> Result<PositionQuery, Problem> {
        let fen = self.0.text("fen").filter(|fen| !fen.trim().is_empty());
        played_from(fen, self.0.text("play").unwrap_or_default())
    }

    /// The player, by account name. Commas do not separate names here, because a player's name in tournament
    /// games can contain one.
    fn player(self) -> Option<NameFilter> {
        let name = self.0.text("player")?.trim();
        (!name.is_empty()).then(|| NameFilter::Account(name.to_owned()))
    }

    /// The filter, without speeds, players, ratings and modes.
    fn filter(self, database: &Database) -> Result<GameFilter, Problem> {
        let date = |name| -> Option<DatePrefix> { self.word(name)?.parse().ok() };
        let variant = self.variant(database)?;
        Ok(GameFilter { since: date("since"), until: date("until"), variant, ..GameFilter::default() })
    }

    /// The rating bands that contain the requested values. An empty list means that ratings are not
    /// restricted.
    fn bands(self) -> Vec<RangeInclusive<u16>> {
        let values = self.words("ratings").filter_map(|word| word.parse::<u16>().ok());
        let mut bands =
            Vec::from_iter(values.filter_map(|value| BANDS.iter().rposition(|&band| band <= value)));
        bands.sort_unstable();
        bands.dedup();
        // All bands together include games with unknown ratings.
        if bands.len() == BANDS.len() {
            return Vec::new();
        }
        let range = |at: usize| BANDS[at]..=BANDS.get(at + 1).map_or(u16::MAX, |next| next - 1);
        bands.into_iter().map(range).collect()
    }

    fn variant(self, database: &Database) -> Result<Option<String>, Problem> {
        let word = self.word("variant").unwrap_or("standard");
        if let Some((_, name)) = VARIANTS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)) {
            return Ok(Some((*name).to_owned()));
        }
        let has_others = database.has_variants()?;
        Ok(has_others.then(|| "standard".to_owned()))
    }
}
