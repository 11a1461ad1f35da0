//! Parses time controls, in PGN's form and as people write them, and derives the speeds of games from them.

mod reading;

use std::fmt;

use reading::{MOST_SECONDS, Reading, seconds};

/// The speed of a game, classified as on Lichess by each player's time for 40 moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Speed {
    /// Less than half a minute.
    UltraBullet,
    /// Less than three minutes.
    Bullet,
    /// Less than eight minutes.
    Blitz,
    /// Less than 25 minutes.
    Rapid,
    /// 25 minutes or more.
    Classical,
    /// An hour or more for each move, or no clock at all.
    Correspondence,
}

impl Speed {
    /// All speeds, the fastest first.
    pub const ALL: [Self; 6] =
        [Self::UltraBullet, Self::Bullet, Self::Blitz, Self::Rapid, Self::Classical, Self::Correspondence];

    /// The name of this speed.
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

    /// The speed with this name, ignoring case.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|speed| speed.as_str().eq_ignore_ascii_case(word))
    }

    /// The class of a game with this many seconds for 40 moves per player ([Lichess's time
    /// controls](https://lichess.org/faq#time-controls)).
    fn from_seconds(seconds: f64) -> Self {
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

/// The contents of a `TimeControl` tag, as far as they can be parsed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeControl {
    /// The number of seconds on each clock at the start of the first period.
    pub initial: Option<u32>,
    /// The number of seconds added for each move of the first period, rounded.
    pub increment: Option<u32>,
    /// The number of centiseconds added for each move of the first period.
    pub increment_cs: Option<u32>,
    /// The speed of the game.
    pub speed: Option<Speed>,
}

/// The minimum number of seconds per move of a correspondence game.
const SLOW: f64 = 3600.0;
/// The minimum value of the first clock comment in a correspondence game, in centiseconds.
const SHORTEST_DAYS: u32 = 12 * 3600 * 100;

impl TimeControl {
    const CORRESPONDENCE: Self =
        Self { initial: None, increment: None, increment_cs: None, speed: Some(Speed::Correspondence) };

    /// The text itself and, if it is one number or two numbers with a plus sign, its usual spellings, such as
    /// `600` and `600+0`.
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

    /// Parses the value of a tag in PGN's form: `180+2`, `600`, `40/7200:3600`, `*180` (a sandclock),
    /// `1/259200` (days for each move), `-` (no clock); and in forms that people write: `90+30` in minutes,
    /// `1:30:00+30`, `90 min / 40 moves + 30 min + 30 sec / move`, `G/60;d5`. If the value is ambiguous or
    /// unreadable, all fields are `None`.
    ///
    /// A small number can be seconds or minutes: the game's first clock time, in centiseconds, shows which.
    /// Without a clock time, a whole number from 15 is in seconds if the game is from a site that writes
    /// seconds. Otherwise the number is interpreted as on Lichess. If the unit is clear from the text, but the clock time is
    /// much longer than the text says, all fields are `None`. This check is omitted for texts such as `600`
    /// or `600+2`, and for texts with a number of moves.
    #[must_use]
    pub fn parse(
        value: &str,
        writes_seconds: impl FnOnce() -> bool,
        first_clock: impl FnOnce() -> Option<u32>,
    ) -> Self {
        if value.trim() == "-" {
            // Some programs write `-` if the time control is unknown.
            let is_short = first_clock().is_some_and(|clock| clock < SHORTEST_DAYS);
            return if is_short { Self::default() } else { Self::CORRESPONDENCE };
        }
        let Some(reading) = Reading::of(value) else { return Self::default() };
        if reading.is_slow {
            return Self::CORRESPONDENCE;
        }
        let Some(initial) = reading.choose(writes_seconds, first_clock) else { return Self::default() };
        let increment = reading.increment;
        if initial > MOST_SECONDS || (initial == 0.0 && increment.is_none_or(|increment| increment == 0.0)) {
            return Self::default();
        }
        if reading.moves.is_some_and(|moves| initial / f64::from(moves) >= SLOW) {
            return Self::CORRESPONDENCE;
        }
        let speed = Speed::from_seconds(40.0_f64.mul_add(increment.unwrap_or(0.0), initial));
        Self {
            initial: Some(initial.round() as u32),
            increment: increment.map(|increment| increment.round() as u32),
            increment_cs: increment.map(|increment| (100.0 * increment).round() as u32),
            speed: (increment.is_some() || speed == Speed::Classical).then_some(speed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(initial: u32, increment: u32, speed: Speed) -> TimeControl {
        TimeControl {
            initial: Some(initial),
            increment: Some(increment),
            increment_cs: Some(100 * increment),
            speed: Some(speed),
        }
    }

    /// The result for a text if there is no clock. `writes_seconds` says whether the site writes seconds.
    fn read(text: &str, writes_seconds: bool) -> TimeControl {
        TimeControl::parse(text, || writes_seconds, || None)
    }

    #[test]
    fn time_controls_of_pgn_and_of_sites_are_read() {
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
        ] {
            assert_eq!(read(text, true), expected, "{text}");
        }
        let fraction = |text, initial, increment, increment_cs, speed| {
            let expected =
                TimeControl { increment_cs: Some(increment_cs), ..known(initial, increment, speed) };
            assert_eq!(read(text, false), expected, "{text}");
        };
        fraction(" 10+0.1 ", 10, 0, 10, Speed::UltraBullet);
        fraction("180+1.5", 180, 2, 150, Speed::Blitz);
        fraction("8+0.08", 8, 0, 8, Speed::UltraBullet);
        fraction("1/2+0", 30, 0, 0, Speed::Bullet);
        fraction("1/4", 15, 0, 0, Speed::UltraBullet);
        fraction("3/4+0", 45, 0, 0, Speed::Bullet);
        for text in
            ["-", "1/86400", "1/259200", "10/360000", "3 days", "1 day/move", "1 day 12 hours", "3d/1"]
        {
            assert_eq!(read(text, false), TimeControl::CORRESPONDENCE, "{text}");
        }
        for text in [
            "",
            "?",
            "0",
            "0/60",
            "x/60",
            "+2",
            "180+",
            "1e9",
            "-5",
            "nan",
            "99999999999",
            "90/40",
            "40/60",
            "1:30",
            "+30",
            "30 sec/move",
            "5 + five",
            "90+30+x",
            "1.5+0",
            "0.5+0",
            "2:00/40",
            "3 d/1",
            "3 d 12 h",
            "60d5",
            "G/60d",
            "12:30:15",
            "30:40/60",
        ] {
            assert_eq!(read(text, false), TimeControl::default(), "{text}");
        }
    }

    #[test]
    fn informal_time_controls_are_read() {
        let (rapid, classical) = (Speed::Rapid, Speed::Classical);
        for (text, initial, increment, speed) in [
            ("90+30", 5400, 30, classical),
            ("95+10", 5700, 10, classical),
            ("15+10", 900, 10, rapid),
            ("3+2", 180, 2, Speed::Blitz),
            ("60+30", 3600, 30, classical),
            ("180+30", 10_800, 30, classical),
            ("5", 300, 0, Speed::Blitz),
            ("1:30:00+30", 5400, 30, classical),
            ("0:03:00", 180, 0, Speed::Blitz),
            ("5:00", 300, 0, Speed::Blitz),
            ("90:00+30", 5400, 30, classical),
            ("40/2:00:00", 7200, 0, classical),
            ("5400/40+30:1800+30", 5400, 30, classical),
            ("40/5400+30:1800+30", 5400, 30, classical),
            ("40/90, SD 30; +30", 5400, 30, classical),
            ("40/80, SD30; +30", 4800, 30, classical),
            ("40/90, SD/30, inc/30", 5400, 30, classical),
            ("15 mins + 10 secs increment", 900, 10, rapid),
            ("15'/game & 10\"/move", 900, 10, rapid),
            ("90 min / 40 moves + 30 min + 30 sec / move", 5400, 30, classical),
            ("40 moves in 90 minutes + 30 minutes + 30 seconds per move", 5400, 30, classical),
            ("G/60", 3600, 0, classical),
            ("G/60;d5", 3600, 0, classical),
            ("G/90+30", 5400, 30, classical),
            ("SD/60", 3600, 0, classical),
            ("Game in 60", 3600, 0, classical),
            ("120m+30", 7200, 30, classical),
            ("2h", 7200, 0, classical),
            ("1h30+30", 5400, 30, classical),
            ("1h30m + 30s", 5400, 30, classical),
            ("90'+30''", 5400, 30, classical),
            ("90\u{2032} + 30\u{2033}", 5400, 30, classical),
            ("3|2", 180, 2, Speed::Blitz),
            ("25m+10s", 1500, 10, classical),
            ("60+5d", 3600, 0, classical),
            ("Rapid 15+10", 900, 10, rapid),
            ("15 min.", 900, 0, rapid),
            ("1:30:00/40+30, 30:00+30", 5400, 30, classical),
            ("1:40:00/40", 6000, 0, classical),
            ("2:00:00/40", 7200, 0, classical),
            ("90:00/40", 5400, 0, classical),
            ("G/60 d5", 3600, 0, classical),
            ("G/60 d/5", 3600, 0, classical),
            ("G/60d5", 3600, 0, classical),
            ("G/30 d 3", 1800, 0, classical),
            ("G/25 d5s", 1500, 0, classical),
            ("G/60 delay 5", 3600, 0, classical),
            ("40/120 d5", 7200, 0, classical),
            ("60 d5", 3600, 0, classical),
            ("0:05:00+0:00:03", 300, 3, Speed::Blitz),
            ("5:00+0:03", 300, 3, Speed::Blitz),
            ("15:00+0:10", 900, 10, rapid),
            ("01:30:00 + 00:00:30", 5400, 30, classical),
            ("300+3:10", 300, 3, Speed::Blitz),
            ("3600+30:15", 3600, 30, classical),
            ("3600+5:600", 3600, 5, classical),
        ] {
            assert_eq!(read(text, false), known(initial, increment, speed), "{text}");
        }
        // It is unknown whether the increment also belongs to the first period.
        for (text, initial) in [
            ("40/90,SD/30+30", 5400),
            ("1:40:00/40+50:00/20+15:00+30", 6000),
            ("1:30:00+0:30", 5400),
            ("90+30:00", 5400),
        ] {
            let expected =
                TimeControl { initial: Some(initial), speed: Some(classical), ..TimeControl::default() };
            assert_eq!(read(text, false), expected, "{text}");
        }
    }

    #[test]
    fn the_first_clock_shows_the_unit() {
        let read =
            |text, writes_seconds, clock| TimeControl::parse(text, || writes_seconds, || Some(clock)).initial;
        assert_eq!(read("90+30", true, 540_000), Some(5400));
        assert_eq!(read("90+30", false, 11_500), Some(90));
        assert_eq!(read("60", false, 5_900), Some(60));
        assert_eq!(read("60", true, 300_000), Some(3600));
        assert_eq!(read("180+2", false, 18_000), Some(180));
        assert_eq!(read("180+2", true, 1_080_000), Some(10_800));
        assert_eq!(read("40/60", false, 350_000), Some(3600));
        assert_eq!(read("1:30", false, 540_000), Some(5400));
        assert_eq!(read("1:30", false, 9_000), Some(90));
        assert_eq!(read("600", false, 3_600_000), Some(600));
        assert_eq!(read("90+30", false, 0), Some(5400));
        assert_eq!(read("1.5+0", false, 9_000), Some(90));
        assert_eq!(read("0.5+0", true, 3_000), Some(30));
        assert_eq!(read("10+0.1", false, 60_000), Some(600));
        assert_eq!(read("10+0.1", true, 1_000), Some(10));
        assert_eq!(read("1/2+0", false, 3_000), Some(30));
        assert_eq!(read("2:00/40", false, 720_000), Some(7200));
        // The clock shows more than the text seems to say.
        assert_eq!(read("G/5", false, 900_000), None);
        let dash = |clock| TimeControl::parse("-", || true, || Some(clock));
        assert_eq!(dash(18_000), TimeControl::default());
        assert_eq!(dash(25_920_000), TimeControl::CORRESPONDENCE);
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

    /// The expected speeds are those of <https://lichess.org/faq#time-controls>.
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
            assert_eq!(read(&seconds.to_string(), true).speed, Some(speed), "{seconds}");
        }
        assert_eq!(read("0+1", true).speed, Some(Speed::Bullet));
        assert_eq!(read("300+3", true).speed, Some(Speed::Blitz));
        assert_eq!(read("300+5", true).speed, Some(Speed::Rapid));
        assert!(Speed::ALL.is_sorted());
    }
}
