//! Time controls, as PGN has them and as people write them.

use super::value::Speed;

/// What a `TimeControl` tag says, as far as it can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeControl {
    /// Seconds on each clock at the start; of several periods, those of the first.
    pub initial: Option<u32>,
    /// Seconds added for each move of that period, rounded.
    pub increment: Option<u32>,
    /// The same in centiseconds.
    pub increment_cs: Option<u32>,
    /// How fast the game is.
    pub speed: Option<Speed>,
}

/// Seconds for a move from which on a game is played by correspondence.
const SLOW: f64 = 3600.0;
/// A number up to this one can be minutes: so says Lichess where it reads PGN of others (`TournamentClock` in scalachess).
const MOST_MINUTES: f64 = 180.0;
const MOST_SECONDS: f64 = 1e9;

impl TimeControl {
    const CORRESPONDENCE: Self =
        Self { initial: None, increment: None, increment_cs: None, speed: Some(Speed::Correspondence) };

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

    /// Reads the value of a tag as PGN has it, `180+2`, `600`, `40/7200:3600`, `*180` (a sandclock), `1/259200` (days for each move), `-`
    /// (no clock), and as people write it: `90+30` in minutes, `1:30:00+30`, `90 min / 40 moves + 30 min + 30 sec / move`, `G/60;d5`.
    /// Of what it cannot read for certain nothing is known.
    ///
    /// A small number can be seconds or minutes: the game's first clock shows which, in centiseconds. Without one they are seconds if
    /// the game is from a site that writes them, else what Lichess takes them for.
    #[must_use]
    pub fn parse(
        value: &str,
        writes_seconds: impl FnOnce() -> bool,
        first_clock: impl FnOnce() -> Option<u32>,
    ) -> Self {
        if value.trim() == "-" {
            return Self::CORRESPONDENCE;
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
        let speed = Speed::of_seconds(40.0_f64.mul_add(increment.unwrap_or(0.0), initial));
        Self {
            initial: Some(initial.round() as u32),
            increment: increment.map(|increment| increment.round() as u32),
            increment_cs: increment.map(|increment| (100.0 * increment).round() as u32),
            speed: (increment.is_some() || speed == Speed::Classical).then_some(speed),
        }
    }
}

/// A number of seconds; engines are given parts of one.
fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_number = text.starts_with(|first: char| first.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|&seconds| is_number && seconds <= MOST_SECONDS)
}

/// How a number without a unit, or a clock of two parts, can be meant.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meant {
    /// For certain.
    Surely(f64),
    /// As PGN has it.
    Seconds(f64),
    Minutes(f64),
    /// `5:00`
    MinutesAndSeconds(f64),
    HoursAndMinutes(f64),
}

impl Meant {
    const fn seconds(self) -> f64 {
        match self {
            Self::Surely(seconds)
            | Self::Seconds(seconds)
            | Self::Minutes(seconds)
            | Self::MinutesAndSeconds(seconds)
            | Self::HoursAndMinutes(seconds) => seconds,
        }
    }
}

/// One reading or two.
type Choice = (Meant, Option<Meant>);

/// A time control as it is written.
#[derive(Debug)]
struct Reading {
    /// What the first period's time can be.
    initial: Choice,
    /// For so many moves.
    moves: Option<u32>,
    /// `None`: it is not known.
    increment: Option<f64>,
    /// Days are given.
    is_slow: bool,
}

impl Reading {
    fn of(value: &str) -> Option<Self> {
        let (initial, increment) = value.split_once('+').unwrap_or((value, "0"));
        if let (Some(initial), Some(increment)) = (seconds(initial), seconds(increment)) {
            let has_fraction = initial.fract() != 0.0 || increment.fract() != 0.0;
            let initial = bare(initial, has_fraction);
            return Some(Self { initial, moves: None, increment: Some(increment), is_slow: false });
        }
        let tokens = tokens(value)?;
        let mut pieces = tokens.split(|token| matches!(token, Token::Part(_)));
        let mut parts =
            tokens.iter().filter_map(|token| if let Token::Part(part) = token { Some(*part) } else { None });
        let first = Piece::of(pieces.next()?)?;
        let is_slow = first.unit == Some(Unit::Days);
        if (first.is_per_move || first.is_delay) && !is_slow || matches!(tokens.last(), Some(Token::Part(_)))
        {
            return None;
        }
        let mut increment = Some(0.0);
        // Whether what is added belongs to a later period only.
        let mut is_later = false;
        for piece in pieces {
            let part = parts.next()?;
            // Later periods have increments of their own.
            if part == ':' {
                break;
            }
            if piece.is_empty() {
                is_later = false;
                continue;
            }
            let piece = Piece::of(piece)?;
            let is_named = piece.is_per_move || (piece.unit == Some(Unit::Seconds) && part != ',');
            if piece.is_delay || piece.unit == Some(Unit::Days) {
                // It is waited before the clock runs, and nothing is added.
            } else if is_named || (part != ',' && piece.is_increment()) {
                let seconds = piece.number * piece.unit.map_or(1.0, Unit::seconds);
                let is_first = increment == Some(0.0) && !is_later;
                increment = (is_named || is_first).then_some(seconds);
            } else {
                is_later = true;
            }
        }
        let has_fraction = first.number.fract() != 0.0 || increment.is_some_and(|it| it.fract() != 0.0);
        let is_in_minutes =
            tokens.iter().any(|token| matches!(token, Token::Part(',' | '|') | Token::SuddenDeath));
        let initial = match (first.unit, first.clock) {
            (_, Some(clock)) => clock,
            (Some(unit), None) => (Meant::Surely(first.number * unit.seconds()), None),
            (None, None) if first.is_sandclock => (Meant::Surely(first.number), None),
            (None, None) if is_in_minutes && first.number <= MOST_MINUTES => {
                (Meant::Surely(60.0 * first.number), None)
            }
            (None, None) => bare(first.number, has_fraction),
        };
        Some(Self { initial, moves: first.moves, increment, is_slow })
    }

    /// The first period's time in seconds.
    fn choose(
        &self,
        writes_seconds: impl FnOnce() -> bool,
        first_clock: impl FnOnce() -> Option<u32>,
    ) -> Option<f64> {
        let (first, Some(second)) = self.initial else { return Some(self.initial.0.seconds()) };
        let increment = self.increment.unwrap_or(0.0);
        if let Some(clock) = first_clock().filter(|&clock| clock > 0) {
            // The first move took some time, and one reading is sixty times as long as the other.
            let distance =
                |meant: Meant| (f64::from(clock) / 100.0 / (meant.seconds() + increment)).ln().abs();
            return Some(if distance(first) <= distance(second) { first } else { second }.seconds());
        }
        let writes_seconds = writes_seconds();
        let fits = |meant: &Meant| match *meant {
            Meant::Surely(_) => true,
            // The sites have no faster games; three minutes are played often, three hours hardly ever.
            Meant::Seconds(seconds) => {
                (writes_seconds && seconds >= 15.0) || (seconds == MOST_MINUTES && increment < 10.0)
            }
            // Engines are given few seconds for many moves, people minutes.
            Meant::Minutes(_) => self.moves.is_none(),
            Meant::MinutesAndSeconds(seconds) => seconds >= 180.0,
            Meant::HoursAndMinutes(_) => false,
        };
        [first, second].into_iter().find(fits).map(Meant::seconds)
    }
}

/// What a number without a unit can mean.
fn bare(number: f64, has_fraction: bool) -> Choice {
    if has_fraction || number > MOST_MINUTES {
        return (Meant::Surely(number), None);
    }
    (Meant::Seconds(number), Some(Meant::Minutes(60.0 * number)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Seconds,
    Minutes,
    Hours,
    Days,
}

impl Unit {
    const fn seconds(self) -> f64 {
        match self {
            Self::Seconds => 1.0,
            Self::Minutes => 60.0,
            Self::Hours => 3600.0,
            Self::Days => 86_400.0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token {
    Number(f64),
    /// What a clock of two or three parts can mean.
    Clock(Choice),
    Unit(Unit),
    Slash,
    Star,
    /// What parts two pieces: `+`, `:`, `,` (also `;`), `|`.
    Part(char),
    Moves,
    PerMove,
    Delay,
    SuddenDeath,
}

/// The words of a time control; `None` if there is one that is not known.
fn tokens(value: &str) -> Option<Vec<Token>> {
    const LONGEST: usize = 100;
    if value.len() > LONGEST {
        return None;
    }
    let value = value.to_lowercase().replace("''", "\"");
    let mut rest = value.trim();
    let mut tokens = Vec::new();
    while let Some(letter) = rest.chars().next() {
        if letter.is_ascii_digit() {
            let (token, length) = number(rest)?;
            tokens.push(token);
            rest = &rest[length..];
            continue;
        }
        let word = rest.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(rest.len());
        let (token, length) = match &rest[..word] {
            "" => (Some(sign(letter)?), letter.len_utf8()),
            text => (word_token(text)?, word),
        };
        tokens.extend(token.filter(|token| *token != Token::Part(' ')));
        rest = &rest[length..];
    }
    Some(tokens)
}

/// A number or a clock that a text begins with, and its length.
fn number(text: &str) -> Option<(Token, usize)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let first = digits(text);
    let field = |at: usize| {
        let rest = text[at..].strip_prefix(':')?;
        let number: u32 = rest.get(..2)?.parse().ok()?;
        (digits(rest) == 2 && number < 60).then_some(f64::from(number))
    };
    if first <= 2
        && let Some(second) = field(first)
    {
        let whole: f64 = text[..first].parse().ok()?;
        let (meant, end) = match field(first + 3) {
            Some(third) => ((Meant::Surely(whole * 3600.0 + second * 60.0 + third), None), first + 6),
            None => {
                let hours = Meant::HoursAndMinutes(whole * 3600.0 + second * 60.0);
                ((Meant::MinutesAndSeconds(whole * 60.0 + second), Some(hours)), first + 3)
            }
        };
        // `40/40:40/40` and `90:30` are two periods.
        if !text[end..].starts_with('/') && (whole < 60.0 || second == 0.0) {
            return Some((Token::Clock(meant), end));
        }
    }
    let part = text[first..].strip_prefix('.').map_or(0, |part| 1 + digits(part));
    let length = first + part;
    seconds(&text[..length]).map(|number| (Token::Number(number), length))
}

/// What a sign means; a blank is `Part(' ')`.
fn sign(letter: char) -> Option<Token> {
    Some(match letter {
        ' ' | '.' | '(' | ')' => Token::Part(' '),
        '+' | '&' => Token::Part('+'),
        ',' | ';' => Token::Part(','),
        ':' | '|' => Token::Part(letter),
        '/' => Token::Slash,
        '*' => Token::Star,
        '\'' | '\u{2032}' | '\u{2019}' => Token::Unit(Unit::Minutes),
        '"' | '\u{2033}' | '\u{201d}' => Token::Unit(Unit::Seconds),
        _ => return None,
    })
}

/// What a word means, if anything; `None` if it is not known.
fn word_token(word: &str) -> Option<Option<Token>> {
    Some(Some(match word {
        "h" | "hr" | "hrs" | "hour" | "hours" => Token::Unit(Unit::Hours),
        "m" | "min" | "mins" | "minute" | "minutes" => Token::Unit(Unit::Minutes),
        "s" | "sec" | "secs" | "second" | "seconds" => Token::Unit(Unit::Seconds),
        "d" | "day" | "days" => Token::Unit(Unit::Days),
        "move" | "moves" | "mv" | "mvs" => Token::Moves,
        "inc" | "incr" | "increment" | "bonus" | "per" | "each" | "every" => Token::PerMove,
        "delay" => Token::Delay,
        "g" | "game" | "sd" => Token::SuddenDeath,
        "and" | "plus" | "with" | "then" => Token::Part('+'),
        "in" | "for" | "the" | "of" | "a" | "all" | "rest" | "to" | "end" | "blitz" | "rapid" | "bullet"
        | "classical" | "standard" => return Some(None),
        _ => return None,
    }))
}

/// What stands between two parting signs.
#[derive(Debug, Default)]
struct Piece {
    number: f64,
    unit: Option<Unit>,
    clock: Option<Choice>,
    moves: Option<u32>,
    is_per_move: bool,
    is_delay: bool,
    is_sandclock: bool,
    is_sudden_death: bool,
}

impl Piece {
    /// Whether it can be what is added for each move: a few seconds.
    const fn is_increment(&self) -> bool {
        matches!(self.unit, None | Some(Unit::Seconds))
            && self.clock.is_none()
            && self.moves.is_none()
            && !self.is_sudden_death
    }

    fn of(tokens: &[Token]) -> Option<Self> {
        let mut piece = Self::default();
        let has = |wanted: &Token| tokens.contains(wanted);
        piece.is_sandclock = has(&Token::Star);
        piece.is_sudden_death = has(&Token::SuddenDeath);
        piece.is_delay = has(&Token::Delay) || tokens.first() == Some(&Token::Unit(Unit::Days));
        // Numbers with their units: of moves, and of time.
        let mut times: Vec<(f64, Option<Unit>)> = Vec::new();
        let mut bare: Vec<f64> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                Token::Number(number) => match tokens.get(at + 1) {
                    Some(Token::Moves) => piece.moves = Some(count(*number)?),
                    Some(Token::Unit(unit)) => times.push((*number, Some(*unit))),
                    // `1h30`
                    _ if times.last().is_some_and(|last| last.1 == Some(Unit::Hours))
                        && !has(&Token::Slash) =>
                    {
                        times.push((*number, Some(Unit::Minutes)));
                    }
                    _ => bare.push(*number),
                },
                Token::Clock(clock) if piece.clock.is_none() => piece.clock = Some(*clock),
                Token::Clock(_) => return None,
                Token::Moves => {
                    let before = at.checked_sub(1).map(|at| &tokens[at]);
                    piece.is_per_move |= matches!(before, Some(Token::Slash | Token::PerMove));
                }
                Token::PerMove => piece.is_per_move = true,
                _ => {}
            }
        }
        match (&times[..], &bare[..]) {
            ([], []) if piece.clock.is_some() => {}
            ([], [moves]) if piece.clock.is_some() => piece.moves = Some(count(*moves)?),
            ([], [number]) => piece.number = *number,
            // `40/7200`, or the other way round
            ([], [first, second]) if has(&Token::Slash) && piece.moves.is_none() => {
                const MOST_MOVES: f64 = 60.0;
                let (moves, number) = match (*first, *second) {
                    (moves, time) if moves <= MOST_MOVES => (moves, time),
                    (time, moves) if time >= 300.0 && moves <= MOST_MOVES => (moves, time),
                    _ => return None,
                };
                (piece.moves, piece.number) = (Some(count(moves)?), number);
            }
            ([(number, unit)], []) => (piece.number, piece.unit) = (*number, *unit),
            ([(number, unit)], [moves]) if has(&Token::Slash) => {
                (piece.number, piece.unit, piece.moves) = (*number, *unit, Some(count(*moves)?));
            }
            ([_, _, ..], []) => {
                piece.number =
                    times.iter().map(|(number, unit)| number * unit.map_or(1.0, Unit::seconds)).sum();
                piece.unit = Some(Unit::Seconds);
            }
            _ => return None,
        }
        Some(piece)
    }
}

/// A number of moves.
fn count(number: f64) -> Option<u32> {
    (number.fract() == 0.0 && (1.0..=1000.0).contains(&number)).then_some(number as u32)
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

    /// What a text says without a clock, written by a site that writes seconds or not.
    fn read(text: &str, writes_seconds: bool) -> TimeControl {
        TimeControl::parse(text, || writes_seconds, || None)
    }

    #[test]
    fn time_controls_are_read_as_pgn_and_the_sites_write_them() {
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
        for text in ["-", "1/86400", "1/259200", "10/360000", "3 days", "1 day/move"] {
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
        ] {
            assert_eq!(read(text, false), TimeControl::default(), "{text}");
        }
    }

    #[test]
    fn time_controls_are_read_as_people_write_them() {
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
        ] {
            assert_eq!(read(text, false), known(initial, increment, speed), "{text}");
        }
        // Whether what is added belongs to the first period too is not known.
        let expected = TimeControl { initial: Some(5400), speed: Some(classical), ..TimeControl::default() };
        assert_eq!(read("40/90,SD/30+30", false), expected);
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
            assert_eq!(read(&seconds.to_string(), true).speed, Some(speed), "{seconds}");
        }
        assert_eq!(read("0+1", true).speed, Some(Speed::Bullet));
        assert_eq!(read("300+3", true).speed, Some(Speed::Blitz));
        assert_eq!(read("300+5", true).speed, Some(Speed::Rapid));
        assert!(Speed::ALL.is_sorted());
    }
}
