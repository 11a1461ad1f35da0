//! Which games, and in which order.

use crate::cli::args::WrongValue;
use crate::cli::args::within;
use clap::Args;
use clap::ValueEnum;
use pgndex::board::GameResult;
use pgndex::store::DatePrefix;
use pgndex::store::EcoRange;
use pgndex::store::FilterError;
use pgndex::store::GameFilter;
use pgndex::store::NameFilter;
use std::path::Path;

/// Orders of games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortArg {
    Game,
    Rating,
    Date,
}

/// Heading of the options that choose games.
pub(crate) const WHICH: &str = "Which games";

/// Which games count: those for which all of this holds.
#[derive(Args, Clone, Debug)]
pub(crate) struct FilterArgs {
    /// White's name, or the beginning of one of its words. Letter case, accents and blanks around commas do not matter.
    /// '=NAME' fits this name only
    #[arg(help_heading = WHICH, long, value_name = "NAME")]
    pub(crate) white: Option<NameFilter>,
    /// Black's name
    #[arg(help_heading = WHICH, long, value_name = "NAME")]
    pub(crate) black: Option<NameFilter>,
    /// White's or Black's name
    #[arg(help_heading = WHICH, long, value_name = "NAME")]
    pub(crate) player: Option<NameFilter>,
    /// Both players are rated this or higher
    #[arg(help_heading = WHICH, long, value_name = "N", value_parser = within(0..=u16::MAX))]
    pub(crate) elo_min: Option<u16>,
    /// Both players are rated this or lower
    #[arg(help_heading = WHICH, long, value_name = "N", value_parser = within(0..=u16::MAX))]
    pub(crate) elo_max: Option<u16>,
    /// Played in this year, month or day (2021, 2021.06, 2021-06-30) or later. A game whose month or day is unknown is shown
    /// if it could fit
    #[arg(help_heading = WHICH, long, value_name = "DATE")]
    pub(crate) since: Option<DatePrefix>,
    /// Played in this year, month or day or earlier
    #[arg(help_heading = WHICH, long, value_name = "DATE")]
    pub(crate) until: Option<DatePrefix>,
    /// Result: 1-0, 0-1, 1/2-1/2 (or draw), or * for none
    #[arg(help_heading = WHICH, long, value_name = "RESULT", value_parser = result)]
    pub(crate) result: Option<GameResult>,
    /// The event's name, or the beginning of one of its words
    #[arg(help_heading = WHICH, long, value_name = "NAME")]
    pub(crate) event: Option<NameFilter>,
    /// The ECO code that the PGN's tag ECO gives (column eco): B90, B9 for B90 to B99, or a range such as B90-C19
    #[arg(help_heading = WHICH, long, value_name = "CODE", value_parser = eco)]
    pub(crate) eco: Option<EcoRange>,
    /// The ECO code of the opening that the game's positions tell (column opening_eco), whatever its tags say
    #[arg(help_heading = WHICH, long, value_name = "CODE", value_parser = eco)]
    pub(crate) opening_eco: Option<EcoRange>,
}

/// Reads ECO codes. A file with names of openings was once given in their place.
pub(crate) fn eco(text: &str) -> Result<EcoRange, String> {
    text.parse().map_err(|error: FilterError| match Path::new(text).exists() {
        true => format!("{error}; a file with names of openings is given by --openings"),
        false => error.to_string(),
    })
}

pub(crate) fn result(text: &str) -> Result<GameResult, &'static str> {
    match text {
        "draw" => Ok(GameResult::Draw),
        _ => GameResult::parse(text.as_bytes()).ok_or("not a result; write 1-0, 0-1, 1/2-1/2, draw or *"),
    }
}

impl FilterArgs {
    /// The filter that the arguments make.
    ///
    /// # Errors
    /// If no game can fit it.
    pub(in crate::cli) fn filter(&self) -> Result<GameFilter, WrongValue> {
        let args = self.clone();
        let filter = GameFilter {
            white: args.white,
            black: args.black,
            player: args.player,
            elo_min: args.elo_min,
            elo_max: args.elo_max,
            since: args.since,
            until: args.until,
            result: args.result,
            event: args.event,
            eco: args.eco,
            opening_eco: args.opening_eco,
        };
        filter.check().map_err(|error| WrongValue(error.into()))?;
        Ok(filter)
    }
}
