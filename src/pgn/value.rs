//! What the values of some tags mean.

use std::borrow::Cow;
use std::fmt;

/// How fast a game is, in the classes of Lichess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Speed {
    /// Less than half a minute for each player.
    UltraBullet,
    /// Less than three minutes.
    Bullet,
    /// Less than eight minutes.
    Blitz,
    /// Less than 25 minutes.
    Rapid,
    /// More.
    Classical,
    /// An hour or more for each move, or no clock at all.
    Correspondence,
}

impl Speed {
    /// All speeds, the fastest first.
    pub const ALL: [Self; 6] =
        [Self::UltraBullet, Self::Bullet, Self::Blitz, Self::Rapid, Self::Classical, Self::Correspondence];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UltraBullet => "ultraBullet",
            Self::Bullet => "bullet",
            Self::Blitz => "blitz",
            Self::Rapid => "rapid",
            Self::Classical => "classical",
            Self::Correspondence => "correspondence",
        }
    }

    /// The speed that a word names, whatever the case of its letters.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|speed| speed.as_str().eq_ignore_ascii_case(word))
    }

    /// The class of a game in which each player has so many seconds for 40 moves
    /// ([Lichess's time controls](https://lichess.org/faq#time-controls)).
    fn of_seconds(seconds: f64) -> Self {
        match seconds {
            ..30.0 => Self::UltraBullet,
            ..180.0 => Self::Bullet,
            ..480.0 => Self::Blitz,
            ..1500.0 => Self::Rapid,
            _ => Self::Classical,
        }
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a `TimeControl` tag says, as far as it can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeControl {
    /// Seconds on each clock at the start; of several periods, those of the first.
    pub initial: Option<u32>,
    /// Seconds added for each move of that period.
    pub increment: Option<u32>,
    /// How fast the game is.
    pub speed: Option<Speed>,
}

impl TimeControl {
    /// All ways to write what a tag says if it is one period for all moves, the text itself first: `600` is `600+0`. Of other texts, only
    /// the text itself.
    #[must_use]
    pub fn spellings(value: &str) -> Vec<String> {
        let mut spellings = vec![value.to_owned()];
        let (initial, increment) = value.split_once('+').unwrap_or((value, "0"));
        if let (Some(initial), Some(increment)) = (seconds(initial), seconds(increment)) {
            spellings.extend((increment == 0.0).then(|| initial.to_string()));
            spellings.push(format!("{initial}+{increment}"));
        }
        spellings.dedup();
        spellings
    }

    /// Reads the value of a tag: `180+2`, `600`, `40/7200:3600`, `*180` (a sandclock), `1/259200` (days for each move), `-` (no clock).
    /// Of what it cannot read nothing is known.
    #[must_use]
    pub fn parse(value: &str) -> Self {
        /// Seconds for a move from which on a game is played by correspondence.
        const SLOW: f64 = 3600.0;
        let value = value.trim();
        let slow = Self { speed: Some(Speed::Correspondence), ..Self::default() };
        if value == "-" {
            return slow;
        }
        let period = value.split(':').next().unwrap_or_default();
        let (moves, time) = match period.split_once('/') {
            Some((moves, time)) => (Some(moves), time),
            None => (None, period.strip_prefix('*').unwrap_or(period)),
        };
        let moves = match moves.map(|moves| moves.trim().parse::<u32>()) {
            None => None,
            Some(Ok(moves)) if moves > 0 => Some(moves),
            _ => return Self::default(),
        };
        let (initial, increment) = time.split_once('+').unwrap_or((time, "0"));
        let (Some(initial), Some(increment)) = (seconds(initial), seconds(increment)) else {
            return Self::default();
        };
        if moves.is_some_and(|moves| initial / f64::from(moves) >= SLOW) {
            return slow;
        }
        Self {
            initial: Some(initial.round() as u32),
            increment: Some(increment.round() as u32),
            speed: Some(Speed::of_seconds(40.0_f64.mul_add(increment, initial))),
        }
    }
}

/// What a game's tags say that has columns of its own beside them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameFacts {
    /// The game is at `https://lichess.org/` and this id.
    pub lichess_id: Option<String>,
    /// When it began, in UTC: `YYYY-MM-DDTHH:MM:SSZ`.
    pub started_at: Option<String>,
    /// Its time control.
    pub time: TimeControl,
    /// How it ended, in the words of its site.
    pub termination: Option<String>,
    /// What the game changed of White's rating, then of Black's.
    pub rating_diffs: [Option<i32>; 2],
    /// The players' numbers with FIDE, White's first.
    pub fide_ids: [Option<u32>; 2],
}

impl GameFacts {
    /// The facts in a game's site, its time control, and its other tag pairs.
    #[must_use]
    pub fn of<'t>(
        site: Option<&str>,
        time_control: Option<&str>,
        tags: impl IntoIterator<Item = (&'t str, &'t str)>,
    ) -> Self {
        let mut facts = Self {
            lichess_id: site.and_then(lichess_id_of_address).map(str::to_owned),
            time: time_control.map(TimeControl::parse).unwrap_or_default(),
            ..Self::default()
        };
        let (mut id, mut link, mut date, mut time) = (None, None, None, None);
        for (name, value) in tags {
            match name {
                "GameId" => id = lichess_id(value),
                "Link" => link = lichess_id_of_address(value),
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
        facts.lichess_id = facts.lichess_id.or_else(|| id.or(link).map(str::to_owned));
        facts.started_at = date.zip(time).and_then(|(date, time)| utc_time(date, time));
        facts
    }
}

/// A player's number with FIDE; 0 is nobody's.
fn fide_id(value: &str) -> Option<u32> {
    value.trim().parse().ok().filter(|&id| id > 0)
}

/// A number of seconds; engines are given parts of one.
fn seconds(text: &str) -> Option<f64> {
    const MOST: f64 = 1e9;
    let text = text.trim();
    let is_number = text.starts_with(|first: char| first.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|&seconds| is_number && seconds <= MOST)
}

/// The id of the game that an address leads to: `https://lichess.org/q7ZvsdUF`, with a side or a ply behind it or not.
fn lichess_id_of_address(address: &str) -> Option<&str> {
    let address = address.trim();
    let path =
        address.strip_prefix("https://").or_else(|| address.strip_prefix("http://")).unwrap_or(address);
    let path = path.strip_prefix("lichess.org/")?;
    let end = path.find(['/', '#', '?']).unwrap_or(path.len());
    let (id, rest) = path.split_at(end);
    // Twelve letters are the id of one player's view of the game.
    let id = lichess_id(id).or_else(|| id.get(..8).filter(|_| id.len() == 12).and_then(lichess_id))?;
    let side = rest.strip_prefix('/').map(|rest| rest.split(['#', '?']).next().unwrap_or_default());
    matches!(side, None | Some("" | "white" | "black")).then_some(id)
}

/// The id of a game on Lichess: eight letters or digits.
fn lichess_id(text: &str) -> Option<&str> {
    /// What else has eight letters on Lichess's site.
    const PAGES: [&str; 3] = ["training", "analysis", "practice"];
    let text = text.trim();
    let is_id = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_id && !PAGES.contains(&text)).then_some(text)
}

/// Names under which standard chess and Chess960 go.
pub(crate) fn is_known_variant(name: &str) -> bool {
    const NAMES: [&str; 13] = [
        "standard",
        "normal",
        "chess",
        "classical",
        "orthodox",
        "fromposition",
        "chess960",
        "960",
        "fischerandom",
        "fischerrandom",
        "fischerrandomchess",
        "fischerandomchess",
        "freestyle",
    ];
    let plain = || name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase);
    NAMES.iter().any(|known| known.chars().eq(plain()))
}

/// A date as `YYYY.MM.DD` with `?` for what is not known; `None` if nothing is.
pub(crate) fn date(value: &str) -> Result<Option<Cow<'_, str>>, &'static str> {
    const REASON: &str = "no date that can be read (YYYY.MM.DD)";
    let value = value.trim();
    if value.chars().all(|letter| matches!(letter, '?' | '.' | '-' | '/')) {
        return Ok(None);
    }
    let mut fields = value.split(['.', '-', '/']);
    let year = fields.next().unwrap_or_default();
    let month = fields.next().unwrap_or("??");
    let day = fields.next().unwrap_or("??");
    let digits = |text: &str, most: u32| {
        let number = text.parse::<u32>().ok().filter(|number| (1..=most).contains(number));
        text.bytes().all(|letter| letter == b'?')
            || (number.is_some() && text.len() <= 2 && text.bytes().all(|letter| letter.is_ascii_digit()))
    };
    let years = year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit() || byte == b'?');
    if fields.next().is_some() || !years || !digits(month, 12) || !digits(day, 31) {
        return Err(REASON);
    }
    if value.len() == 10 && value.as_bytes()[4] == b'.' && value.as_bytes()[7] == b'.' {
        return Ok(Some(Cow::Borrowed(value)));
    }
    let two = |text: &str| {
        if text.contains('?') || text.is_empty() { "??".to_owned() } else { format!("{text:0>2}") }
    };
    Ok(Some(Cow::Owned(format!("{year}.{}.{}", two(month), two(day)))))
}

/// A point in time as SQL has it, `YYYY-MM-DDTHH:MM:SSZ`, from the values of `UTCDate` and `UTCTime`; `None` if not all of it is known.
fn utc_time(day: &str, time: &str) -> Option<String> {
    // A year below 1000 is a slip.
    let day = date(day).ok()?.filter(|day| !day.contains('?') && **day >= *"1000")?;
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

    #[test]
    fn time_controls_are_read_as_pgn_and_the_sites_write_them() {
        let known = |initial, increment, speed| TimeControl {
            initial: Some(initial),
            increment: Some(increment),
            speed: Some(speed),
        };
        for (text, expected) in [
            ("180+2", known(180, 2, Speed::Blitz)),
            ("600", known(600, 0, Speed::Rapid)),
            ("15+0", known(15, 0, Speed::UltraBullet)),
            ("60+0", known(60, 0, Speed::Bullet)),
            ("120+1", known(120, 1, Speed::Bullet)),
            ("1500", known(1500, 0, Speed::Classical)),
            ("1499", known(1499, 0, Speed::Rapid)),
            ("*180", known(180, 0, Speed::Blitz)),
            ("40/9000", known(9000, 0, Speed::Classical)),
            ("40/7200:20/3600:900+30", known(7200, 0, Speed::Classical)),
            ("5400+30", known(5400, 30, Speed::Classical)),
            (" 10+0.1 ", known(10, 0, Speed::UltraBullet)),
        ] {
            assert_eq!(TimeControl::parse(text), expected, "{text}");
        }
        for text in ["-", "1/86400", "1/259200", "10/360000"] {
            let slow = TimeControl { speed: Some(Speed::Correspondence), ..TimeControl::default() };
            assert_eq!(TimeControl::parse(text), slow, "{text}");
        }
        for text in
            ["", "?", "90 min", "0/60", "x/60", "+2", "180+", "1e9", "-5", "nan", "99999999999", "G/60"]
        {
            assert_eq!(TimeControl::parse(text), TimeControl::default(), "{text}");
        }
    }

    #[test]
    fn one_time_control_has_many_spellings() {
        for (text, expected) in [
            ("600", &["600", "600+0"][..]),
            ("600+0", &["600+0", "600", "600+0"]),
            ("0600 + 0", &["0600 + 0", "600", "600+0"]),
            ("180+2", &["180+2"]),
            ("10+0.10", &["10+0.10", "10+0.1"]),
            ("40/7200", &["40/7200"]),
            ("*180", &["*180"]),
            ("-", &["-"]),
            ("90 min", &["90 min"]),
        ] {
            assert_eq!(TimeControl::spellings(text), expected, "{text}");
        }
    }

    /// The classes of <https://lichess.org/faq#time-controls>.
    #[test]
    fn speeds_are_those_of_lichess() {
        for (seconds, speed) in [
            (29, Speed::UltraBullet),
            (30, Speed::Bullet),
            (179, Speed::Bullet),
            (180, Speed::Blitz),
            (479, Speed::Blitz),
            (480, Speed::Rapid),
            (1499, Speed::Rapid),
            (1500, Speed::Classical),
        ] {
            assert_eq!(TimeControl::parse(&seconds.to_string()).speed, Some(speed), "{seconds}");
        }
        assert_eq!(TimeControl::parse("0+1").speed, Some(Speed::Bullet));
        assert_eq!(TimeControl::parse("300+3").speed, Some(Speed::Blitz));
        assert_eq!(TimeControl::parse("300+5").speed, Some(Speed::Rapid));
        assert!(Speed::ALL.is_sorted());
    }

    #[test]
    fn ids_of_lichess_are_told_from_other_addresses() {
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
    fn facts_are_taken_from_all_tags_that_tell_them() {
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
        let facts = GameFacts::of(Some("https://lichess.org/q7ZvsdUF"), Some("180+2"), tags);
        assert_eq!(facts.lichess_id.as_deref(), Some("q7ZvsdUF"));
        assert_eq!(facts.started_at.as_deref(), Some("2026-03-04T05:06:07Z"));
        assert_eq!(facts.time.speed, Some(Speed::Blitz));
        assert_eq!(facts.termination.as_deref(), Some("Time forfeit"));
        assert_eq!((facts.rating_diffs, facts.fide_ids), ([Some(5), Some(-11)], [Some(1_503_014), None]));
        assert_eq!(GameFacts::of(None, None, tags).lichess_id.as_deref(), Some("abcdefgh"));
        let link = [("Link", "https://lichess.org/abcdefgh"), ("Termination", "?"), ("UTCTime", "05:06:07")];
        let facts = GameFacts::of(Some("Paris"), Some("?"), link);
        assert_eq!(facts.lichess_id.as_deref(), Some("abcdefgh"));
        assert_eq!(GameFacts { lichess_id: None, ..facts }, GameFacts::default());
    }

    #[test]
    fn dates_are_brought_into_pgn_form() {
        let read = |text| date(text).map(|date| date.map(Cow::into_owned));
        for (text, expected) in [
            ("1992.11.04", "1992.11.04"),
            ("1992.??.??", "1992.??.??"),
            ("1992.5.1", "1992.05.01"),
            ("2014-03-01", "2014.03.01"),
            ("2014/3/1", "2014.03.01"),
            ("1851", "1851.??.??"),
            ("199?.??.??", "199?.??.??"),
        ] {
            assert_eq!(read(text), Ok(Some(expected.to_owned())), "{text}");
        }
        for text in ["????.??.??", "", "?", "-"] {
            assert_eq!(read(text), Ok(None), "{text}");
        }
        for text in
            ["yesterday", "1992.13.01", "1992.01.32", "92.1.1", "1992.+1.01", "1992.01.01.01", "01.02.1992"]
        {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_told_only_if_all_is_known() {
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
