//! Splits a time control into words and numbers, and finds the periods, times and increments in them.

/// The maximum number without a unit that can mean minutes, as in Lichess's import of PGN (`TournamentClock` in
/// scalachess).
const MOST_MINUTES: f64 = 180.0;

/// A parsed time control.
#[derive(Debug)]
pub(super) struct Reading {
    /// The time of the first period.
    initial: Time,
    /// The number of moves of the first period.
    pub(super) moves: Option<u32>,
    /// The increment of the first period in seconds; `None` if it is unknown.
    pub(super) increment: Option<f64>,
    /// Whether the time of the first period is given in days.
    pub(super) is_slow: bool,
    /// Whether the text is one number, or two numbers with a plus sign.
    is_plain: bool,
}

impl Reading {
    pub(super) fn of(value: &str) -> Option<Self> {
        let (initial, increment) = value.split_once('+').unwrap_or((value, "0"));
        if let (Some(initial), Some(increment)) = (seconds(initial), seconds(increment)) {
            let (initial, increment) = (bare(initial), Some(increment));
            return Some(Self { initial, moves: None, increment, is_slow: false, is_plain: true });
        }
        let tokens = tokens(value)?;
        let mut pieces = tokens.split(|token| matches!(token, Token::Part(_)));
        let parts =
            tokens.iter().filter_map(|token| if let Token::Part(part) = token { Some(*part) } else { None });
        let first = Piece::of(pieces.next()?)?;
        let is_slow = first.unit == Some(Unit::Days);
        if (first.is_per_move || first.is_delay) && !is_slow
            || (first.is_sudden_death && is_slow)
            || matches!(tokens.last(), Some(Token::Part(_)))
        {
            return None;
        }
        let increment = Self::increment(&first, parts.zip(pieces))?;
        let is_in_minutes =
            tokens.iter().any(|token| matches!(token, Token::Part(',' | '|') | Token::SuddenDeath));
        let initial = match (first.unit, first.clock) {
            (_, Some(clock)) => clock,
            (Some(unit), None) => Time::Surely(first.number * unit.seconds()),
            (None, None) if first.is_sandclock => Time::Surely(first.number),
            (None, None) if is_in_minutes && first.number <= MOST_MINUTES => {
                Time::Surely(60.0 * first.number)
            }
            (None, None) => bare(first.number),
        };
        Some(Self { initial, moves: first.moves, increment, is_slow, is_plain: false })
    }

    /// Finds the increment of the first period in the pieces after that period; each piece comes with the
    /// sign before it. Returns `Some(None)` if the increment is unknown, `None` if a piece cannot be parsed
    /// or is not plausible.
    fn increment<'t>(
        first: &Piece,
        pieces: impl Iterator<Item = (char, &'t [Token])>,
    ) -> Option<Option<f64>> {
        let mut increment = Some(0.0);
        // Whether a later period was found, and no empty piece (between adjacent separators) after it. An
        // increment after this period can belong to it alone.
        let mut is_later = false;
        for (part, piece) in pieces {
            // The text after a colon describes later periods, which have increments of their own.
            if part == ':' {
                break;
            }
            if piece.is_empty() {
                is_later = false;
                continue;
            }
            let piece = Piece::of(piece)?;
            let is_named = piece.is_per_move || (piece.unit == Some(Unit::Seconds) && part != ',');
            let added = match piece.clock {
                Some(clock) if piece.moves.is_none() && part == '+' => added(first.clock, clock),
                _ if part != ',' && piece.is_increment() => Added::Increment(piece.seconds(), false),
                _ => Added::Period,
            };
            match added {
                // A delay adds no time: the clock starts later. A delay of minutes or hours is not plausible.
                _ if piece.is_delay && matches!(piece.unit, Some(Unit::Minutes | Unit::Hours)) => {
                    return None;
                }
                _ if piece.is_delay || piece.unit == Some(Unit::Days) => {}
                _ if is_named && piece.clock.is_none() => increment = Some(piece.seconds()),
                Added::Period => is_later = true,
                // Ignored, because the first period already has an increment.
                Added::Increment(_, false) if is_later && increment.is_some_and(|it| it > 0.0) => {}
                Added::Increment(seconds, is_before_period) => {
                    increment = (increment == Some(0.0) && !is_later).then_some(seconds);
                    if is_before_period {
                        break;
                    }
                }
                Added::Unknown => increment = None,
            }
        }
        Some(increment)
    }

    /// Chooses the time of the first period, in seconds.
    pub(super) fn choose(
        &self,
        writes_seconds: impl FnOnce() -> bool,
        first_clock: impl FnOnce() -> Option<u32>,
    ) -> Option<f64> {
        let (increment, first) = (self.increment.unwrap_or(0.0), self.initial.seconds());
        if matches!(self.initial, Time::Surely(_)) {
            const MOST: f64 = 1.5;
            let most = MOST * (first + increment.max(60.0));
            let is_wrong = || first_clock().is_some_and(|clock| f64::from(clock) / 100.0 > most);
            return (self.is_plain || self.moves.is_some() || !is_wrong()).then_some(first);
        }
        let second = 60.0 * first;
        if let Some(clock) = first_clock().filter(|&clock| clock > 0) {
            // The first clock shows a little less than the initial time, because the first move took some
            // time. One interpretation is sixty times the other, so the one closer to the clock is right.
            let distance = |seconds: f64| (f64::from(clock) / 100.0 / (seconds + increment)).ln().abs();
            return Some(if distance(first) <= distance(second) { first } else { second });
        }
        if matches!(self.initial, Time::Clock(_)) {
            return (first >= 180.0).then_some(first);
        }
        // Sites that write seconds have no games faster than 15 seconds. 180 is more likely seconds: three
        // minutes are common, three hours very rare. Only engines' games have fractions of a second per move.
        let is_usual = (writes_seconds() && first >= 15.0 && first.fract() == 0.0)
            || (first == MOST_MINUTES && increment < 10.0);
        if is_usual || increment.fract() != 0.0 {
            return Some(first);
        }
        // With a number of moves, the unit is unknown: engines get a few seconds for many moves, people get
        // minutes. It is also unknown for a fraction such as 1.5.
        (self.moves.is_none() && first.fract() == 0.0).then_some(second)
    }
}

/// The meaning of a piece after the first period.
enum Added {
    /// An increment in seconds. The second field says whether the piece also contains the beginning of a
    /// later period, as `3:10` does in `300+3:10`.
    Increment(f64, bool),
    /// A later period.
    Period,
    Unknown,
}

/// The meaning of a clock after a plus sign; `first` is the first period's clock.
fn added(first: Option<Time>, clock: Time) -> Added {
    const MOST_INCREMENT: f64 = 180.0;
    // A first clock of at least 4:00 is in minutes and seconds: no game has that many hours.
    const MINUTES: f64 = 4.0 * 60.0;
    let (seconds, is_short) = (clock.seconds(), matches!(clock, Time::Clock(_)));
    let is_first_in_minutes = matches!(first, Some(Time::Clock(MINUTES..)));
    match (first, is_short) {
        (_, false) if seconds <= MOST_INCREMENT => Added::Increment(seconds, false),
        (Some(_), false) => Added::Period,
        (None, false) => Added::Unknown,
        (_, true) if seconds < 10.0 || (seconds < 60.0 && is_first_in_minutes) => {
            Added::Increment(seconds, false)
        }
        (None, true) if seconds >= 60.0 && seconds % 60.0 != 0.0 => {
            Added::Increment((seconds / 60.0).floor(), true)
        }
        (Some(_), true) if seconds > MOST_INCREMENT => Added::Period,
        _ => Added::Unknown,
    }
}

/// The meaning of a number without a unit.
fn bare(number: f64) -> Time {
    if number > MOST_MINUTES { Time::Surely(number) } else { Time::Number(number) }
}

/// A piece of a time control: the text between two separators.
#[derive(Debug, Default)]
struct Piece {
    number: f64,
    unit: Option<Unit>,
    clock: Option<Time>,
    moves: Option<u32>,
    is_per_move: bool,
    is_delay: bool,
    is_sandclock: bool,
    is_sudden_death: bool,
}

impl Piece {
    fn seconds(&self) -> f64 {
        self.number * self.unit.map_or(1.0, Unit::seconds)
    }

    /// Whether this piece can be an increment per move: a number without a unit, or in seconds.
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
        piece.is_delay = has(&Token::Delay);
        // Numbers with a unit of time, and numbers without a unit.
        let mut times: Vec<(f64, Unit)> = Vec::new();
        let mut bare: Vec<f64> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                Token::Number(number) => match tokens.get(at + 1) {
                    Some(Token::Moves) => piece.moves = Some(count(*number)?),
                    Some(Token::Unit(unit)) => times.push((*number, *unit)),
                    // `1h30`
                    _ if times.last().is_some_and(|last| last.1 == Unit::Hours) && !has(&Token::Slash) => {
                        times.push((*number, Unit::Minutes));
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
        piece.read_numbers(&times, &bare, tokens)?;
        Some(piece)
    }

    /// Interprets the numbers with a unit of time, and those without a unit.
    fn read_numbers(&mut self, times: &[(f64, Unit)], bare: &[f64], tokens: &[Token]) -> Option<()> {
        let has_slash = tokens.contains(&Token::Slash);
        match (times, bare) {
            ([], []) if self.clock.is_some() => {}
            ([], [moves]) if self.clock.is_some() => self.moves = Some(count(*moves)?),
            ([], [number]) => self.number = *number,
            // Fractions of a minute (`1/2`, `1/4`, `3/4`), as chess sites write them. They do not mean moves
            // and seconds: no game has four seconds for three moves.
            ([], [part @ (1.0 | 3.0), whole @ (2.0 | 4.0)])
                if tokens.get(1) == Some(&Token::Slash) && self.moves.is_none() && part < whole =>
            {
                (self.number, self.unit) = (60.0 * part / whole, Some(Unit::Seconds));
            }
            // `40/7200`, or the two numbers in the other order
            ([], [first, second]) if has_slash && self.moves.is_none() => {
                const MOST_MOVES: f64 = 60.0;
                let (moves, number) = match (*first, *second) {
                    (moves, time) if moves <= MOST_MOVES => (moves, time),
                    (time, moves) if time >= 300.0 && moves <= MOST_MOVES => (moves, time),
                    _ => return None,
                };
                (self.moves, self.number) = (Some(count(moves)?), number);
            }
            ([(number, unit)], []) => (self.number, self.unit) = (*number, Some(*unit)),
            ([(number, unit)], [moves]) if has_slash => {
                (self.number, self.unit, self.moves) = (*number, Some(*unit), Some(count(*moves)?));
            }
            ([_, _, ..], []) => {
                let has_days = times.iter().any(|(_, unit)| *unit == Unit::Days);
                self.number = times.iter().map(|(number, unit)| number * unit.seconds()).sum();
                self.unit = Some(if has_days { Unit::Days } else { Unit::Seconds });
            }
            _ => return None,
        }
        Some(())
    }
}

/// Converts a number to a number of moves, if it is a whole number from 1 to 1000.
fn count(number: f64) -> Option<u32> {
    (number.fract() == 0.0 && (1.0..=1000.0).contains(&number)).then_some(number as u32)
}

/// The maximum length of a time, in seconds.
pub(super) const MOST_SECONDS: f64 = 1e9;

/// A time in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Time {
    /// Unambiguous.
    Surely(f64),
    /// From a number without a unit, taken as seconds, as in PGN. If it means minutes, the time is sixty
    /// times as long.
    Number(f64),
    /// From a clock with two parts, `5:00`, taken as minutes and seconds. If it means hours and minutes, the
    /// time is sixty times as long.
    Clock(f64),
}

impl Time {
    const fn seconds(self) -> f64 {
        let (Self::Surely(seconds) | Self::Number(seconds) | Self::Clock(seconds)) = self;
        seconds
    }
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
    /// A time of two or three numbers separated by colons, such as `5:00` or `1:30:00`.
    Clock(Time),
    Unit(Unit),
    Slash,
    Star,
    /// A separator between two pieces: `+`, `:`, `,` (also for `;`), `|`.
    Part(char),
    Moves,
    PerMove,
    Delay,
    SuddenDeath,
}

/// The tokens of a time control; `None` if a word or a sign is unknown, or if the text is too long or
/// ambiguous.
fn tokens(value: &str) -> Option<Vec<Token>> {
    const LONGEST: usize = 100;
    if value.len() > LONGEST {
        return None;
    }
    let value = value.to_lowercase().replace("''", "\"");
    let mut rest = value.trim();
    let end = value.trim_end().len();
    let mut tokens = Vec::new();
    while let Some(letter) = rest.chars().next() {
        let is_after_digit = value[..end - rest.len()].ends_with(|before: char| before.is_ascii_digit());
        let word = rest.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(rest.len());
        let after = rest[word..].trim_start_matches([' ', '/', '=']);
        let is_before_digit = after.starts_with(|next: char| next.is_ascii_digit());
        let (token, length) = match &rest[..word] {
            "" if letter.is_ascii_digit() => number(rest, tokens.last() == Some(&Token::Slash))?,
            "" => (sign(letter)?, letter.len_utf8()),
            // `60 d5`, `d/5`
            "d" | "delay" if is_before_digit && (!is_after_digit || tokens.contains(&Token::SuddenDeath)) => {
                // `3 d/1` can mean three days per move, or three minutes and a delay.
                if matches!(tokens[..], [Token::Number(..15.0)]) {
                    return None;
                }
                if !matches!(tokens.last(), None | Some(Token::Part(_))) {
                    tokens.push(Token::Part(','));
                }
                (Token::Delay, word)
            }
            text => (word_token(text)?, word),
        };
        if token != Token::Part(' ') {
            tokens.push(token);
        }
        rest = &rest[length..];
    }
    Some(tokens)
}

/// Parses a number or a clock at the start of a text. Also returns its length in bytes. `None` if its end is
/// ambiguous, or if the number is invalid.
fn number(text: &str, is_after_slash: bool) -> Option<(Token, usize)> {
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
        if let Some(third) = field(first + 3) {
            let is_clock = whole < 10.0 || (whole % 24.0 == 0.0 && second == 0.0 && third == 0.0);
            let clock = Token::Clock(Time::Surely(whole * 3600.0 + second * 60.0 + third));
            // `40/90:30:15` means three periods, not one time: a time with hours has fewer than ten hours, or
            // is a number of whole days.
            if is_clock || !is_after_slash {
                return is_clock.then_some((clock, first + 6));
            }
        } else {
            let clock = Token::Clock(Time::Clock(whole * 60.0 + second));
            let end = first + 3;
            let is_before_slash = text[end..].starts_with('/');
            // Each of `40/40:40/40`, `40/30:15` and `90:30` means two periods.
            let are_periods = if is_after_slash {
                is_before_slash || (whole >= 10.0 && second != 0.0)
            } else {
                whole >= 60.0 && second != 0.0
            };
            if is_before_slash && !is_after_slash && second != 0.0 {
                return None;
            }
            if !are_periods {
                return Some((clock, end));
            }
        }
    }
    let part = text[first..].strip_prefix('.').map_or(0, |part| 1 + digits(part));
    let length = first + part;
    seconds(&text[..length]).map(|number| (Token::Number(number), length))
}

/// The meaning of a sign; a blank, a period or a bracket is `Part(' ')`.
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

/// The meaning of a word. Words such as `in` or `the` count as blanks, which are `Part(' ')`. `None` if the
/// word is unknown.
fn word_token(word: &str) -> Option<Token> {
    Some(match word {
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
        | "classical" | "standard" => Token::Part(' '),
        _ => return None,
    })
}

/// Parses a number of seconds, which can have a fraction in engines' games.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_number = text.starts_with(|first: char| first.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|&seconds| is_number && seconds <= MOST_SECONDS)
}
