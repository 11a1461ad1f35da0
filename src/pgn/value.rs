//! Interprets the values of some tags.

use std::borrow::Cow;

use super::time_control::TimeControl;

/// Facts in a game's tags that are stored in columns of their own, in addition to the tags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameFacts {
    /// The id of the game on Lichess: the game's address is `https://lichess.org/` followed by the id.
    pub lichess_id: Option<String>,
    /// The start of the game in UTC: `YYYY-MM-DDTHH:MM:SSZ`.
    pub started_at: Option<String>,
    /// The time control of the game.
    pub time: TimeControl,
    /// How the game ended, in the words of its site.
    pub termination: Option<String>,
    /// How much this game changed the players' ratings, White's first.
    pub rating_diffs: [Option<i32>; 2],
    /// The players' FIDE IDs, White's first.
    pub fide_ids: [Option<u32>; 2],
}

impl GameFacts {
    /// Finds the facts in a game's site, time control and other tag pairs. `first_clock`, which returns the
    /// game's first clock time in centiseconds, is called only if needed.
    #[must_use]
    pub fn from_tags<'t>(
        site: Option<&str>,
        time_control: Option<&str>,
        tags: impl IntoIterator<Item = (&'t str, &'t str)>,
        first_clock: impl FnOnce() -> Option<u32>,
    ) -> Self {
        let mut facts =
            Self { lichess_id: site.and_then(lichess_id_of_address).map(str::to_owned), ..Self::default() };
        let (mut id, mut address, mut date, mut time) = (None, None, None, None);
        for (name, value) in tags {
            match name {
                "GameId" => id = lichess_id(value),
                "Link" => address = Some(value),
                "UTCDate" => date = Some(value),
                "UTCTime" => time = Some(value),
                "Termination" => {
                    let value = value.trim();
                    facts.termination = (!matches!(value, "" | "?")).then(|| value.to_owned());
                }
                "WhiteRatingDiff" => facts.rating_diffs[0] = value.trim().parse().ok(),
                "BlackRatingDiff" => facts.rating_diffs[1] = value.trim().parse().ok(),
                "WhiteFideId" => facts.fide_ids[0] = fide_id(value),
                "BlackFideId" => facts.fide_ids[1] = fide_id(value),
                _ => {}
            }
        }
        facts.lichess_id =
            facts.lichess_id.or_else(|| id.or(address.and_then(lichess_id_of_address)).map(str::to_owned));
        if let Some(control) = time_control {
            let is_lichess = facts.lichess_id.is_some();
            let writes_seconds =
                || is_lichess || [site, address].into_iter().flatten().any(is_site_of_seconds);
            facts.time = TimeControl::parse(control, writes_seconds, first_clock);
        }
        facts.started_at = date.zip(time).and_then(|(date, time)| utc_time(date, time));
        facts
    }
}

/// Whether a site or a URL belongs to a server that writes time controls in seconds. Lichess is not in this
/// list, because it also hosts games from elsewhere; its own games are recognised by their id.
fn is_site_of_seconds(site: &str) -> bool {
    let site = site.to_ascii_lowercase();
    ["chess.com", "freechess.org", "fics", "chessclub.com", "internet chess club"]
        .iter()
        .any(|name| site.contains(name))
}

/// A player's FIDE ID; 0 is not valid.
fn fide_id(value: &str) -> Option<u32> {
    value.trim().parse().ok().filter(|&id| id > 0)
}

/// The id of the game at a URL of Lichess: `https://lichess.org/q7ZvsdUF`. A side or a ply can follow the id.
fn lichess_id_of_address(address: &str) -> Option<&str> {
    let address = address.trim();
    let path =
        address.strip_prefix("https://").or_else(|| address.strip_prefix("http://")).unwrap_or(address);
    let path = path.strip_prefix("lichess.org/")?;
    let end = path.find(['/', '#', '?']).unwrap_or(path.len());
    let (id, rest) = path.split_at(end);
    // Twelve characters are the id of one player's view of the game; the first eight are the game's id.
    let id = lichess_id(id).or_else(|| id.get(..8).filter(|_| id.len() == 12).and_then(lichess_id))?;
    let side = rest.strip_prefix('/').map(|rest| rest.split(['#', '?']).next().unwrap_or_default());
    matches!(side, None | Some("" | "white" | "black")).then_some(id)
}

/// The trimmed text, if it can be the id of a game on Lichess: eight letters or digits.
fn lichess_id(text: &str) -> Option<&str> {
    /// Pages on Lichess's site that are not games, but whose names have eight letters.
    const PAGES: [&str; 3] = ["training", "analysis", "practice"];
    let text = text.trim();
    let is_id = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_id && !PAGES.contains(&text)).then_some(text)
}

/// Whether the value of a tag `Variant` means standard chess or Chess960, in any of the known spellings of
/// servers, other programs and books. Case, signs and the words "chess", "Schach" and "rules" are ignored. A
/// value can also name the speed of the game, or say that the game began from a set-up.
pub(crate) fn is_known_variant(name: &str) -> bool {
    const SPEEDS: [&str; 4] = ["rapid", "blitz", "bullet", "classical"];
    const NAMES: [&str; 2] = [
        "standard std normal regular classical classic orthodox ortho live fide western international none na \
         fromposition setup setupposition rapid blitz bullet ultrabullet lightning correspondence",
        "960 9lx frc dfrc doublefrc wildfr freestyle fischer fischer960 fischerandom fischerrandom fischerandom960 \
         fischerrandom960 960fischerandom 960fischerrandom doublefischerandom doublefischerrandom",
    ];
    let plain: String =
        name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let plain = ["chess", "schach", "rules"].iter().fold(plain, |plain, word| plain.replace(word, ""));
    let without_speed = SPEEDS.iter().find_map(|speed| plain.strip_suffix(speed));
    let is_known =
        |name: &str| name.is_empty() || NAMES.iter().any(|names| names.split(' ').any(|known| known == name));
    is_known(&plain) || without_speed.is_some_and(is_known)
}

const ONLY_YEAR: &str =
    "only the year of the date can be read, and only the year is stored; dates are written as YYYY.MM.DD";
const NO_DATE: &str = "the date cannot be read; dates are written as YYYY.MM.DD";
const IMPOSSIBLE_MONTH: &str = "this month does not exist; the date is stored without month and day";
const IMPOSSIBLE_DAY: &str = "this day does not exist; the date is stored without the day";
const AMBIGUOUS_DATE: &str =
    "it is unclear whether the date begins with the day or the month; only the year is stored";

/// Parses a date. Returns it as `YYYY.MM.DD` with `?` for unknown parts, or `None` if nothing is known. Also
/// returns the problem with the date, if there is one.
pub(crate) fn date(value: &str) -> (Option<Cow<'_, str>>, Result<(), &'static str>) {
    let value = value.trim();
    let day =
        value.split_once(['T', ' ']).filter(|(_, time)| time.contains(':')).map_or(value, |(day, _)| day);
    let Some([year, month, day]) = date_fields(day) else { return year_alone(value) };
    let is_ambiguous = month == "/";
    let month = if is_ambiguous { "" } else { month };
    let (Some(month), Some(day), true) = (part(month), part(day), is_year(year)) else {
        return year_alone(value);
    };
    let (mut fields, mut read) = ([month, day], if is_ambiguous { Err(AMBIGUOUS_DATE) } else { Ok(()) });
    if month.is_some_and(|month| month > 12) {
        (fields, read) = ([None, None], Err(IMPOSSIBLE_MONTH));
    } else if day.is_some_and(|day| day > days_of_month(year.parse().ok(), month)) {
        (fields, read) = ([month, None], Err(IMPOSSIBLE_DAY));
    }
    let year = if year == "0000" { "????" } else { year };
    let mut text = *b"????.??.??";
    text[..4].copy_from_slice(year.as_bytes());
    for (at, field) in [5, 8].into_iter().zip(fields) {
        if let Some(number) = field {
            text[at..at + 2].copy_from_slice(&[b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]);
        }
    }
    let date = match std::str::from_utf8(&text) {
        Ok("????.??.??") | Err(_) => None,
        Ok(text) if text == value => Some(Cow::Borrowed(value)),
        Ok(text) => Some(Cow::Owned(text.to_owned())),
    };
    (date, read)
}

/// Parses the year at the start of a text that is not a date, unless the text contains another year. Returns
/// the year in the same form as [`date`], and the problem.
#[cold]
fn year_alone(value: &str) -> (Option<Cow<'_, str>>, Result<(), &'static str>) {
    let is_year =
        |text: &[u8]| matches!(text, [b'1' | b'2', rest @ ..] if rest.iter().all(u8::is_ascii_digit));
    let year = value.get(..4).filter(|year| is_year(year.as_bytes()));
    let rest = value.get(4..).unwrap_or_default();
    let has_other_year = rest.as_bytes().windows(4).any(|digits| digits.iter().all(u8::is_ascii_digit));
    match year {
        Some(year) if rest.starts_with(['.', ',', '-', '/', ' ']) && !has_other_year => {
            (Some(Cow::Owned(format!("{year}.??.??"))), Err(ONLY_YEAR))
        }
        _ => (None, Err(NO_DATE)),
    }
}

/// The year, month and day of a date, not validated. If the month cannot be distinguished from the day, the
/// month is `/` and the day is empty.
fn date_fields(value: &str) -> Option<[&str; 3]> {
    if value.len() == 8 && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some([&value[..4], &value[4..6], &value[6..]]);
    }
    let mut fields = value.split(['.', '-', '/', ',']);
    let mut next = || fields.next().unwrap_or_default();
    let (first, second, third) = (next(), next(), next());
    if fields.next().is_some() {
        return None;
    }
    if first.trim_matches('?').is_empty() && third.len() < 4 || is_year(first) {
        return Some([if first.len() == 4 { first } else { "????" }, second, third]);
    }
    let is_month = |text: &str| text.parse().is_ok_and(|number: u32| number <= 12);
    match (is_month(first), is_month(second)) {
        _ if third.is_empty() && is_year(second) => Some([second, first, ""]),
        (true, false) if !second.trim_matches('?').is_empty() => Some([third, first, second]),
        // With slashes, month and day are in either order, depending on the country.
        (true, true) if value.contains('/') && first.parse() != second.parse::<u32>() => {
            Some([third, "/", ""])
        }
        _ => Some([third, second, first]),
    }
}

/// Whether a text has the form of a year: four characters, each a digit or `?`.
fn is_year(text: &str) -> bool {
    text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'?')
}

/// Parses a month or a day. The text must have at most two characters, each a digit or `?`; otherwise, the
/// result is `None`. `Some(None)` means that the number is unknown or 0. The range is not checked.
fn part(text: &str) -> Option<Option<u32>> {
    if text.len() > 2 || !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'?') {
        return None;
    }
    Some(text.parse().ok().filter(|&number| number > 0))
}

/// The number of days in a month. If the year or the month is unknown, the greatest possible number.
pub(crate) fn days_of_month(year: Option<u32>, month: Option<u32>) -> u32 {
    match month {
        Some(2) if year.is_some_and(|year| year % 4 != 0 || (year % 100 == 0 && year % 400 != 0)) => 28,
        Some(2) => 29,
        Some(4 | 6 | 9 | 11) => 30,
        _ => 31,
    }
}

/// A point in time in the format of ISO 8601, `YYYY-MM-DDTHH:MM:SSZ`, from the values of `UTCDate` and
/// `UTCTime`; `None` if a value is incomplete or invalid.
fn utc_time(day: &str, time: &str) -> Option<String> {
    // A year below 1000 is a typo.
    let day = date(day).0.filter(|day| !day.contains('?') && **day >= *"1000")?;
    let mut fields = time.trim().trim_end_matches('Z').split(':');
    let mut field = |end: u32| {
        let field = fields.next()?;
        let is_number = field.len() <= 2 && field.bytes().all(|byte| byte.is_ascii_digit());
        field.parse().ok().filter(|&number| is_number && number < end)
    };
    let (hour, minute, second): (u32, _, _) = (field(24)?, field(60)?, field(60)?);
    let day = day.replace('.', "-");
    fields.next().is_none().then(|| format!("{day}T{hour:02}:{minute:02}:{second:02}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pgn::Speed;

    #[test]
    fn lichess_ids_are_distinguished_from_other_addresses() {
        for address in [
            "https://lichess.org/q7ZvsdUF",
            "http://lichess.org/q7ZvsdUF/black",
            "lichess.org/q7ZvsdUF#12",
            "https://lichess.org/q7ZvsdUFabcd",
            "https://lichess.org/q7ZvsdUF/",
        ] {
            assert_eq!(lichess_id_of_address(address), Some("q7ZvsdUF"), "{address}");
        }
        for address in [
            "https://lichess.org",
            "https://lichess.org/training/12",
            "https://lichess.org/study/abcdefgh/ijklmnop",
            "https://lichess.org/broadcast/x/y/abcdefgh",
            "https://lichess.org/q7ZvsdUF/analysis",
            "https://lichess.org/q7Zvs-UF",
            "https://www.chess.com/game/live/12345678",
            "q7ZvsdUF",
            "",
        ] {
            assert_eq!(lichess_id_of_address(address), None, "{address}");
        }
    }

    #[test]
    fn facts_come_from_all_tags_that_contain_them() {
        let tags = [
            ("GameId", "abcdefgh"),
            ("UTCDate", "2026.03.04"),
            ("UTCTime", "05:06:07"),
            ("Termination", " Time forfeit "),
            ("WhiteRatingDiff", "+5"),
            ("BlackRatingDiff", "-11"),
            ("WhiteFideId", "1503014"),
            ("BlackFideId", "0"),
        ];
        let facts = GameFacts::from_tags(Some("https://lichess.org/q7ZvsdUF"), Some("180+2"), tags, || None);
        assert_eq!(facts.lichess_id.as_deref(), Some("q7ZvsdUF"));
        assert_eq!(facts.started_at.as_deref(), Some("2026-03-04T05:06:07Z"));
        assert_eq!(facts.time.speed, Some(Speed::Blitz));
        assert_eq!(facts.termination.as_deref(), Some("Time forfeit"));
        assert_eq!((facts.rating_diffs, facts.fide_ids), ([Some(5), Some(-11)], [Some(1_503_014), None]));
        assert_eq!(GameFacts::from_tags(None, None, tags, || None).lichess_id.as_deref(), Some("abcdefgh"));
        let link = [("Link", "https://lichess.org/abcdefgh"), ("Termination", "?"), ("UTCTime", "05:06:07")];
        let facts = GameFacts::from_tags(Some("Paris"), Some("?"), link, || None);
        assert_eq!(facts.lichess_id.as_deref(), Some("abcdefgh"));
        assert_eq!(GameFacts { lichess_id: None, ..facts }, GameFacts::default());
    }

    #[test]
    fn dates_are_brought_into_pgn_form() {
        let read = |text| (date(text).0.map(Cow::into_owned), date(text).1.is_ok());
        for (text, expected) in [
            ("1992.11.04", "1992.11.04"),
            ("1992.??.??", "1992.??.??"),
            ("1992.5.1", "1992.05.01"),
            ("2014-03-01", "2014.03.01"),
            ("2014/3/1", "2014.03.01"),
            ("2014,03,01", "2014.03.01"),
            ("20140301", "2014.03.01"),
            ("2014-03-01T10:00:00Z", "2014.03.01"),
            ("1851", "1851.??.??"),
            ("1851.7", "1851.07.??"),
            ("199?.??.??", "199?.??.??"),
            ("1988.00.00", "1988.??.??"),
            ("1988.06.00", "1988.06.??"),
            ("1988.1?.??", "1988.??.??"),
            ("2024.02.29", "2024.02.29"),
            ("2000.02.29", "2000.02.29"),
            // With dots or dashes, the day comes first, unless that is impossible.
            ("31.12.1999", "1999.12.31"),
            ("01.02.1992", "1992.02.01"),
            ("??.02.1992", "1992.02.??"),
            ("12-31-1999", "1999.12.31"),
            ("31/12/1999", "1999.12.31"),
            ("12/31/1999", "1999.12.31"),
            ("05/05/1999", "1999.05.05"),
            ("12.1999", "1999.12.??"),
        ] {
            assert_eq!(read(text), (Some(expected.to_owned()), true), "{text}");
        }
        for text in ["????.??.??", "", "?", "-", "??", "??.??.????", "0000.00.00"] {
            assert_eq!(read(text), (None, true), "{text}");
        }
        for (text, expected) in [
            ("2021.02.30", "2021.02.??"),
            ("2023.02.29", "2023.02.??"),
            ("1900.02.29", "1900.02.??"),
            ("2021.04.31", "2021.04.??"),
            ("1992.01.32", "1992.01.??"),
            ("1992.13.01", "1992.??.??"),
            ("05/06/1999", "1999.??.??"),
            // Only the year is taken from a text that is not a date.
            ("1992.+1.01", "1992.??.??"),
            ("1992.01.01.01", "1992.??.??"),
            ("1992.001.01", "1992.??.??"),
            ("1988.05.06-08", "1988.??.??"),
            ("1988.x.x", "1988.??.??"),
            ("1988.May.06", "1988.??.??"),
        ] {
            assert_eq!(read(text), (Some(expected.to_owned()), false), "{text}");
        }
        for text in ["yesterday", "92.1.1", "31 Dec 1999", "1988-1990", "2021 or 2022", "1992b"] {
            assert_eq!(read(text), (None, false), "{text}");
        }
    }

    #[test]
    fn standard_chess_and_chess960_have_many_names() {
        for name in [
            "Standard",
            "Standard Chess",
            "CHESS",
            "Regular",
            "-",
            "None",
            "FIDE",
            "Setup",
            "Rapid",
            "From Position",
            "Chess 9LX",
            "Freestyle Chess",
            "wild/fr",
            "chess 960",
            "Fischer Random",
            "Chess960 (Fischer Random)",
            "Orthochess",
            "FIDE rules",
            "Live Chess",
            "Standard Blitz",
            "Schach960",
            "Fischer 960",
            "Double FRC",
            "Chess960 Blitz",
        ] {
            assert!(is_known_variant(name), "{name}");
        }
        for name in [
            "Antichess",
            "Atomic",
            "King of the Hill",
            "Three-check",
            "Crazyhouse",
            "wild/5",
            "Horde",
            "xiangqi",
            "Atomic Blitz",
        ] {
            assert!(!is_known_variant(name), "{name}");
        }
    }

    #[test]
    fn times_are_set_only_if_complete() {
        assert_eq!(utc_time("2026.03.04", "05:06:07").as_deref(), Some("2026-03-04T05:06:07Z"));
        assert_eq!(utc_time(" 2026-3-4", "5:06:07Z").as_deref(), Some("2026-03-04T05:06:07Z"));
        for (date, time) in [
            ("2026.??.??", "05:06:07"),
            ("2026.03.04", ""),
            ("2026.03.04", "05:06"),
            ("2026.03.04", "24:00:00"),
            ("2026.13.04", "05:06:07"),
            ("26.03.04", "05:06:07"),
            ("2026.03.04", "05:06:07.5"),
        ] {
            assert_eq!(utc_time(date, time), None, "{date} {time}");
        }
    }
}
