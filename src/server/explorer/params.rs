//! Parses parameters as clients of the explorer send them.

use std::ops::RangeInclusive;

use crate::query::PositionQuery;
use crate::server::answer::Problem;
use crate::server::request::Call;
use crate::store::{Database, DatePrefix, GameFilter, NameFilter, Selection};

/// The lower bounds of the rating bands. Each band extends up to the next one.
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
pub(super) struct ExplorerParams<'c>(pub(super) &'c Call);

impl<'c> ExplorerParams<'c> {
    /// The words of a parameter, which may be given several times, with commas between the words, or with
    /// `[]` after the name.
    pub(super) fn words(self, name: &'static str) -> impl Iterator<Item = &'c str> {
        let is_named = move |other: &str| other.strip_suffix("[]").unwrap_or(other) == name;
        let values = self.0.query.iter().filter(move |(other, _)| is_named(other));
        values.flat_map(|(_, value)| value.split(',')).map(str::trim).filter(|word| !word.is_empty())
    }

    pub(super) fn word(self, name: &'static str) -> Option<&'c str> {
        self.words(name).next()
    }

    /// The value of a parameter as a number; an invalid value counts as missing.
    pub(super) fn number(self, name: &'static str) -> Option<u32> {
        self.word(name)?.parse().ok()
    }

    /// The position. An invalid one is an error, because the answer for another position would be wrong.
    pub(super) fn position(self) -> Result<PositionQuery, Problem> {
        let start = match self.0.text("fen").filter(|fen| !fen.trim().is_empty()) {
            Some(fen) => PositionQuery::from_fen(fen).map_err(|error| Problem::position("fen", &error))?,
            None => PositionQuery::start(),
        };
        let play = self.0.text("play").unwrap_or_default();
        start.then_uci(play).map_err(|error| Problem::position("play", &error))
    }

    /// The player, by account name. Commas do not separate names here, because a name from a tournament may
    /// contain one.
    pub(super) fn player(self) -> Option<NameFilter> {
        let name = self.0.text("player")?.trim();
        (!name.is_empty()).then(|| NameFilter::Account(name.to_owned()))
    }

    /// The filter, without speeds, players, ratings and modes.
    pub(super) fn filter(self, database: &Database) -> Result<GameFilter, Problem> {
        Ok(GameFilter {
            since: self.date("since"),
            until: self.date("until"),
            variant: self.variant(database)?,
            ..GameFilter::default()
        })
    }

    fn date(self, name: &'static str) -> Option<DatePrefix> {
        self.word(name)?.parse().ok()
    }

    /// Restricts games by rating band and by rated or casual mode. Excludes all games if the time span ends
    /// before it begins.
    pub(super) fn narrow(self, database: &Database, selection: &mut Selection) -> Result<(), Problem> {
        let span =
            GameFilter { since: self.date("since"), until: self.date("until"), ..GameFilter::default() };
        if span.check().is_err() {
            selection.narrow_to_mean_ratings(&[]);
        }
        let bands = self.bands();
        if !bands.is_empty() {
            selection.narrow_to_mean_ratings(&bands);
        }
        let has = |mode: &str| self.words("modes").any(|word| word == mode);
        if has("casual") != has("rated") {
            database.narrow_to_casual(selection, has("casual"))?;
        }
        Ok(())
    }

    /// The rating bands that contain the requested values. Without bands, ratings are not restricted.
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
