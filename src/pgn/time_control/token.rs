//! Splits a time control into words and numbers.

/// The maximum number of seconds of a time.
pub(super) const MOST_SECONDS: f64 = 1e9;

/// The possible meanings of a number without a unit, or of a clock with two parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Interpretation {
    /// Unambiguous.
    Surely(f64),
    /// A number of seconds, as in PGN.
    Seconds(f64),
    Minutes(f64),
    /// `5:00`
    MinutesAndSeconds(f64),
    HoursAndMinutes(f64),
}

impl Interpretation {
    pub(super) const fn seconds(self) -> f64 {
        match self {
            Self::Surely(seconds)
            | Self::Seconds(seconds)
            | Self::Minutes(seconds)
            | Self::MinutesAndSeconds(seconds)
            | Self::HoursAndMinutes(seconds) => seconds,
        }
    }
}

/// One interpretation, or two possible ones.
pub(super) type Choice = (Interpretation, Option<Interpretation>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    Minutes,
    Hours,
    Days,
}

impl Unit {
    pub(super) const fn seconds(self) -> f64 {
        match self {
            Self::Seconds => 1.0,
            Self::Minutes => 60.0,
            Self::Hours => 3600.0,
            Self::Days => 86_400.0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token {
    Number(f64),
    /// The possible meanings of a clock with two or three parts.
    Clock(Choice),
    Unit(Unit),
    Slash,
    Star,
    /// A separator of two pieces: `+`, `:`, `,` (also `;`), `|`.
    Part(char),
    Moves,
    PerMove,
    Delay,
    SuddenDeath,
}

/// The tokens of a time control; `None` if a word or a sign is unknown.
pub(super) fn tokens(value: &str) -> Option<Vec<Token>> {
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
        if letter.is_ascii_digit() {
            let (token, length) = number(rest, tokens.last() == Some(&Token::Slash))?;
            tokens.push(token);
            rest = &rest[length..];
            continue;
        }
        let word = rest.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(rest.len());
        // `60 d5`, `d/5`
        if matches!(&rest[..word], "d" | "delay")
            && rest[word..]
                .trim_start_matches([' ', '/', '='])
                .starts_with(|next: char| next.is_ascii_digit())
            && (!is_after_digit || tokens.contains(&Token::SuddenDeath))
        {
            // This can mean three days, or three minutes and a delay.
            if matches!(tokens[..], [Token::Number(..15.0)]) {
                return None;
            }
            if !matches!(tokens.last(), None | Some(Token::Part(_))) {
                tokens.push(Token::Part(','));
            }
            tokens.push(Token::Delay);
            rest = &rest[word..];
            continue;
        }
        let (token, length) = match &rest[..word] {
            "" => (Some(sign(letter)?), letter.len_utf8()),
            text => (word_token(text)?, word),
        };
        tokens.extend(token.filter(|token| *token != Token::Part(' ')));
        rest = &rest[length..];
    }
    Some(tokens)
}

/// Parses a number or a clock at the start of a text, and returns its length in bytes; `None` if it is
/// ambiguous where it ends.
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
            let clock = Token::Clock((Interpretation::Surely(whole * 3600.0 + second * 60.0 + third), None));
            // `40/90:30:15` is three periods, and no game has an initial time of 12:30:15.
            if is_clock || !is_after_slash {
                return is_clock.then_some((clock, first + 6));
            }
        } else {
            let hours = Interpretation::HoursAndMinutes(whole * 3600.0 + second * 60.0);
            let clock = Token::Clock((Interpretation::MinutesAndSeconds(whole * 60.0 + second), Some(hours)));
            let end = first + 3;
            let is_before_slash = text[end..].starts_with('/');
            // `40/40:40/40`, `40/30:15` and `90:30` are two periods.
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

/// The meaning of a sign; a blank is `Part(' ')`.
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

/// The meaning of a word; `Some(None)` for a word without a meaning, `None` for an unknown word.
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

/// Parses a number of seconds, which can have a fraction in engines' games.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_number = text.starts_with(|first: char| first.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|&seconds| is_number && seconds <= MOST_SECONDS)
}
