//! Parses the values of filters on games, and defines the errors of filters.

use std::fmt;
use std::str::FromStr;

use crate::board::GameResult;
use crate::pgn::days_of_month;
use crate::store::game_column::Test;

/// Why a filter on games, or the text of one of its values, is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// The name is empty.
    #[error("the name is empty")]
    EmptyName,
    /// The text is not a date.
    #[error("not a date; write YYYY, YYYY.MM or YYYY.MM.DD")]
    Date,
    /// The month is not one of the twelve.
    #[error("there is no such month; write 01 to 12")]
    NoSuchMonth,
    /// The day is 0, or after the last day of its month.
    #[error("there is no such day; that month has {days} days")]
    NoSuchDay {
        /// The number of days of the month.
        days: u32,
    },
    /// The text is not a result.
    #[error("not a result; write 1-0, 0-1, 1/2-1/2, draw or *")]
    Result,
    /// The text is neither an ECO code nor a range of ECO codes.
    #[error("not an ECO code; write B90, B9 for B90 to B99, or B90-C19")]
    Eco,
    /// The range ends before it begins.
    #[error("the range is reversed; write the lower code first, as in B90-C19")]
    EmptyRange,
    /// The lower bound of the ratings is greater than the upper bound.
    #[error("the lowest rating, {least}, is above the highest, {most}; swap the two")]
    NoRating {
        /// The lower bound.
        least: u16,
        /// The upper bound.
        most: u16,
    },
    /// The lower bound of the length is greater than the upper bound.
    #[error("the smallest number of half-moves, {least}, is above the greatest, {most}; swap the two")]
    NoLength {
        /// The lower bound, in half-moves.
        least: u32,
        /// The upper bound.
        most: u32,
    },
    /// The player of one side is given twice: as `white` or `black`, and also as `player` or `opponent`.
    #[error(
        "{field} already names the player of this side; omit either {field}, or both player and opponent"
    )]
    SideNamed {
        /// The field: `white` or `black`.
        field: &'static str,
    },
    /// The first date is after the last date.
    #[error("the first date, {since}, is after the last, {until}; swap the two")]
    NoDate {
        /// The first date.
        since: DatePrefix,
        /// The last date.
        until: DatePrefix,
    },
}

/// Parses a result, also `draw`.
///
/// # Errors
/// [`FilterError::Result`]
pub fn read_result(text: &str) -> Result<GameResult, FilterError> {
    let draw = text.eq_ignore_ascii_case("draw").then_some(GameResult::Draw);
    draw.or_else(|| GameResult::parse(text.as_bytes())).ok_or(FilterError::Result)
}

/// A date, a month or a year as text: `YYYY.MM.DD`, `YYYY.MM` or `YYYY`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DatePrefix(pub(super) String);

impl FromStr for DatePrefix {
    type Err = FilterError;

    /// Parses a date, a month or a year; `-` and `/` are accepted instead of dots.
    fn from_str(text: &str) -> Result<Self, FilterError> {
        let mut fields = text.trim().split(['.', '-', '/']);
        let mut field = |digits: usize| match fields.next() {
            None => Ok(None),
            Some(field) => {
                let is_digits = field.bytes().all(|byte| byte.is_ascii_digit()) && field.len() <= digits;
                field.parse().ok().filter(|_| is_digits).map(Some).ok_or(FilterError::Date)
            }
        };
        let year: u32 = field(4)?.filter(|&year| year > 0).ok_or(FilterError::Date)?;
        let (month, day) = (field(2)?, field(2)?);
        let mut date = format!("{year:04}");
        for number in [month, day].into_iter().flatten() {
            date += &format!(".{number:02}");
        }
        // A year must have four digits: 99 could mean 1999.
        let year_digits = text.trim().bytes().take_while(u8::is_ascii_digit).count();
        if fields.next().is_some() || year_digits != 4 {
            return Err(FilterError::Date);
        }
        let days = |month| days_of_month(Some(year), Some(month));
        match (month, day) {
            (Some(month), _) if !(1..=12).contains(&month) => Err(FilterError::NoSuchMonth),
            (Some(month), Some(day)) if !(1..=days(month)).contains(&day) => {
                Err(FilterError::NoSuchDay { days: days(month) })
            }
            _ => Ok(Self(date)),
        }
    }
}

impl DatePrefix {
    /// The last day, month or year before a game's date `YYYY.MM.DD`. If the month is unknown, the result is
    /// a year. If the month is known, but the day is unknown or 1, the result is a month. `None` if the year
    /// is unknown or less than 2.
    #[must_use]
    pub fn before(date: &str) -> Option<Self> {
        let mut fields = date.split('.').map(|field| field.parse::<u32>().ok());
        let [year, month, day] = [(); 3].map(|()| fields.next().flatten());
        let year = year.filter(|&year| year > 1)?;
        let before = match (month.filter(|&month| month > 0), day.filter(|&day| day > 0)) {
            (None, _) => format!("{:04}", year - 1),
            (Some(1), None | Some(1)) => format!("{:04}.12", year - 1),
            (Some(month), None | Some(1)) => format!("{year:04}.{:02}", month - 1),
            (Some(month), Some(day)) => format!("{year:04}.{month:02}.{:02}", day - 1),
        };
        Some(Self(before))
    }
}

impl fmt::Display for DatePrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A range of ECO codes, including both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EcoRange {
    pub(super) first: String,
    last: String,
}

impl FromStr for EcoRange {
    type Err = FilterError;

    /// Parses a code, a prefix of codes, or two codes or prefixes with `-` between them: `B90`, `B9`,
    /// `B90-C19`.
    fn from_str(text: &str) -> Result<Self, FilterError> {
        let code = |text: &str| {
            let code = text.trim().to_ascii_uppercase();
            let is_code = match code.as_bytes() {
                [b'A'..=b'E', digits @ ..] => digits.len() <= 2 && digits.iter().all(u8::is_ascii_digit),
                _ => false,
            };
            if is_code { Ok(code) } else { Err(FilterError::Eco) }
        };
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let range = Self { first: code(first)?, last: code(last)? };
        if range.first > range.end() { Err(FilterError::EmptyRange) } else { Ok(range) }
    }
}

impl fmt::Display for EcoRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last } = self;
        if first == last { f.write_str(first) } else { write!(f, "{first}-{last}") }
    }
}

impl EcoRange {
    /// A text that sorts after all codes of the range, including codes with appended letters, which some
    /// files contain.
    pub(super) fn end(&self) -> String {
        format!("{}~", self.last)
    }

    /// The test whether a code is in the range.
    pub(super) fn test(&self) -> Test {
        Test::Between(self.first.clone(), self.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_several_forms_are_parsed() {
        let read = |text: &str| text.parse::<DatePrefix>().map(|date| date.0);
        for (text, date) in [
            ("1992", "1992"),
            ("1992.5", "1992.05"),
            ("1992-05", "1992.05"),
            ("1992/5/1", "1992.05.01"),
            ("2024-02-29", "2024.02.29"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(date), "{text}");
        }
        for text in ["", "92", "1992.1.1.1", "1992.", "+992", "19920", "yesterday", "'"] {
            assert_eq!(read(text), Err(FilterError::Date), "{text}");
        }
        for text in ["1992.13", "1992.00", "2000-99-99"] {
            assert_eq!(read(text), Err(FilterError::NoSuchMonth), "{text}");
        }
        for (text, days) in [
            ("1992.1.32", 31),
            ("1992.1.0", 31),
            ("2021-02-31", 28),
            ("2024.2.30", 29),
            ("1900.02.29", 28),
            ("2000.11.31", 30),
        ] {
            assert_eq!(read(text), Err(FilterError::NoSuchDay { days }), "{text}");
        }
        assert_eq!(read("2000.02.29").as_deref(), Ok("2000.02.29"));
    }

    #[test]
    fn codes_and_ranges_of_codes_are_parsed() {
        let read = |text: &str| text.parse::<EcoRange>().map(|range| (range.first.clone(), range.end()));
        for (text, first, end) in
            [("B90", "B90", "B90~"), ("b9", "B9", "B9~"), ("B", "B", "B~"), ("B90-C1", "B90", "C1~")]
        {
            assert_eq!(read(text), Ok((first.into(), end.into())), "{text}");
        }
        for text in ["", "F10", "B900", "B9x", "B90-", "-B90", "B90-B95-B99"] {
            assert_eq!(read(text), Err(FilterError::Eco), "{text}");
        }
        assert_eq!(read("C10-B90"), Err(FilterError::EmptyRange));
        assert_eq!(read("B9-B95").map(|(_, end)| end).as_deref(), Ok("B95~"));
    }
}
