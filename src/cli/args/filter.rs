//! Options that choose games, and the parser for the order of games.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use pgndex::board::GameResult;
use pgndex::pgn::Speed;
use pgndex::store::{DatePrefix, EcoRange, FilterError, GameFilter, HitOrder, NameFilter, read_result};

use crate::cli::args::{one_of, within};
use crate::cli::error::{WrongValue, wrong_value};

/// The parser for the order of games.
pub(crate) fn order() -> impl TypedValueParser<Value = HitOrder> {
    one_of([("game", HitOrder::Game), ("rating", HitOrder::Rating), ("date", HitOrder::Date)])
}

/// Heading of the options that choose games.
pub(crate) const WHICH: &str = "Which games";

/// Filters for games. A game must pass all of them.
#[derive(Args, Clone, Debug)]
pub(crate) struct FilterArgs {
    /// White's name, or the beginning of one of its words.
    ///
    /// Letter case, accents and blanks around commas do not matter. Initials match given names, and first and
    /// last name may come in either order. '=NAME' matches only this exact name.
    #[arg(help_heading = WHICH, long, value_name = "NAME")]
    pub(crate) white: Option<NameFilter>,
    /// Black's name
    #[arg(help_heading = WHICH, long, value_name = "NAME")]
    pub(crate) black: Option<NameFilter>,
    /// White's or Black's name; repeat the option for games between two players
    #[arg(help_heading = WHICH, long, value_name = "NAME")]
    pub(crate) player: Vec<NameFilter>,
    /// Name of the player who played against --player
    #[arg(help_heading = WHICH, long, value_name = "NAME")]
    pub(crate) opponent: Option<NameFilter>,
    /// Both players are rated this or higher
    #[arg(help_heading = WHICH, long, value_name = "N", value_parser = within(0..=u16::MAX))]
    pub(crate) elo_min: Option<u16>,
    /// Both players are rated this or lower
    #[arg(help_heading = WHICH, long, value_name = "N", value_parser = within(0..=u16::MAX))]
    pub(crate) elo_max: Option<u16>,
    /// Played on this date or later: 2021, 2021.06 or 2021-06-30.
    ///
    /// A game with an unknown month or day matches if it could have been played then.
    #[arg(help_heading = WHICH, long, value_name = "DATE")]
    pub(crate) since: Option<DatePrefix>,
    /// Played on this date or earlier; 2021 means to the end of 2021.
    ///
    /// A game with an unknown month or day matches if it could have been played then.
    #[arg(help_heading = WHICH, long, value_name = "DATE")]
    pub(crate) until: Option<DatePrefix>,
    /// Result: 1-0, 0-1, 1/2-1/2 (or draw), or * for none
    #[arg(help_heading = WHICH, long, value_name = "RESULT", value_parser = read_result)]
    pub(crate) result: Option<GameResult>,
    /// The event's name, or the beginning of one of its words
    #[arg(help_heading = WHICH, long, value_name = "NAME")]
    pub(crate) event: Option<NameFilter>,
    /// The site's name, or the beginning of one of its words
    #[arg(help_heading = WHICH, long, value_name = "NAME", hide_short_help = true)]
    pub(crate) site: Option<NameFilter>,
    /// Words of the opening's name, such as "sicilian najdorf".
    ///
    /// Beginnings of words match too. The opening is determined from the game's positions, not from its tags.
    #[arg(help_heading = WHICH, long, value_name = "NAME")]
    pub(crate) opening: Option<NameFilter>,
    /// The tag ECO: a code (B90), its beginning (B9), or a range (B90-C19)
    #[arg(help_heading = WHICH, long, value_name = "CODE", value_parser = eco)]
    pub(crate) eco: Option<EcoRange>,
    /// The ECO code that pgndex determined from the game's positions
    #[arg(help_heading = WHICH, long, value_name = "CODE", value_parser = eco, hide_short_help = true)]
    pub(crate) opening_eco: Option<EcoRange>,
    /// Class of the time control, as defined by Lichess, such as blitz.
    ///
    /// Repeat the option to accept several.
    #[arg(help_heading = WHICH, long, value_name = "SPEED", value_parser = one_of(Speed::ALL.map(|speed| (speed.as_str(), speed))), ignore_case = true)]
    pub(crate) speed: Vec<Speed>,
    /// The tag TimeControl, such as 180+2
    #[arg(help_heading = WHICH, long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    #[arg(hide_short_help = true)]
    pub(crate) time_control: Option<String>,
    /// The tag Termination, such as "Time forfeit"
    #[arg(help_heading = WHICH, long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    #[arg(hide_short_help = true)]
    pub(crate) termination: Option<String>,
    /// The game has this many half-moves or more
    #[arg(help_heading = WHICH, long, value_name = "N", value_parser = within(0..=u32::MAX))]
    #[arg(hide_short_help = true)]
    pub(crate) plies_min: Option<u32>,
    /// The game has this many half-moves or fewer
    #[arg(help_heading = WHICH, long, value_name = "N", value_parser = within(0..=u32::MAX))]
    #[arg(hide_short_help = true)]
    pub(crate) plies_max: Option<u32>,
    /// The game has engine evaluations
    #[arg(help_heading = WHICH, long, hide_short_help = true)]
    pub(crate) with_evals: bool,
    /// Only games that were indexed from this file, given by path or number.
    ///
    /// `pgndex info` shows paths and numbers. Repeat the option to accept several.
    #[arg(help_heading = WHICH, long, value_name = "PATH|ID")]
    pub(crate) source: Vec<PathBuf>,
    /// The tag Variant, such as Chess960; standard also matches games without this tag
    #[arg(help_heading = WHICH, long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    #[arg(hide_short_help = true)]
    pub(crate) variant: Option<String>,
}

/// Parses an ECO code or a range of ECO codes. In earlier versions, the value of `--eco` was a file of opening
/// names. So if the text is the path of a file, the error suggests `--openings`.
pub(crate) fn eco(text: &str) -> Result<EcoRange, String> {
    text.parse().map_err(|error: FilterError| match Path::new(text).exists() {
        true => format!("{error}; to use a file of opening names, give --openings FILE"),
        false => error.to_string(),
    })
}

impl FilterArgs {
    /// The filter of these arguments.
    ///
    /// # Errors
    /// If a lower bound is greater than its upper bound, or `--opponent` is given without `--player`. If these
    /// two options together name more than two players.
    pub(in crate::cli) fn filter(&self) -> anyhow::Result<GameFilter> {
        let args = self.clone();
        let (player, opponent) = args.players()?;
        let filter = GameFilter {
            white: args.white,
            black: args.black,
            player,
            opponent,
            elo_min: args.elo_min,
            elo_max: args.elo_max,
            since: args.since,
            until: args.until,
            result: args.result,
            event: args.event,
            site: args.site,
            opening: args.opening,
            eco: args.eco,
            opening_eco: args.opening_eco,
            speeds: args.speed,
            time_control: args.time_control,
            termination: args.termination,
            plies_min: args.plies_min,
            plies_max: args.plies_max,
            with_evals: args.with_evals,
            sources: args.source,
            variant: args.variant,
        };
        filter.check().map_err(|error| WrongValue(error.into()))?;
        Ok(filter)
    }

    /// These filters, with `name` added before the given values of `--player`.
    pub(in crate::cli) fn with_player(&self, name: &NameFilter) -> Self {
        let mut args = self.clone();
        args.player.insert(0, name.clone());
        args
    }

    /// The names for the fields `player` and `opponent` of the filter.
    fn players(&self) -> anyhow::Result<(Option<NameFilter>, Option<NameFilter>)> {
        if self.opponent.is_some() && self.player.is_empty() {
            return Err(wrong_value(
                "--opponent NAME needs --player NAME; give both, or use --player alone for all games of a player",
            ));
        }
        let mut names = self.player.iter().chain(&self.opponent).cloned();
        let players = (names.next(), names.next());
        match names.next() {
            None => Ok(players),
            Some(_) => Err(wrong_value("a game has only two players; give two names at most")),
        }
    }
}

/// The option that sets a field of [`GameFilter`]. For `opponent`, which several options can set, returns
/// "the opponent".
pub(crate) fn filter_option(field: &str) -> String {
    match field {
        "opponent" => "the opponent".to_owned(),
        "speeds" => "--speed".to_owned(),
        "sources" => "--source".to_owned(),
        field => format!("--{}", field.replace('_', "-")),
    }
}
