//! Clock times and evaluations, as written in comments. [`comment`](super::comment) lists the notations.

use crate::board::Color;

/// Clock time and evaluation of a move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveNumbers {
    /// Centiseconds left on the clock of the player who has just moved.
    pub clock: Option<u32>,
    /// Centiseconds used for the move.
    pub elapsed: Option<u32>,
    /// The evaluation of the position after the move.
    pub eval: Option<Eval>,
    /// The search depth of the evaluation, in plies. There is no depth without an evaluation.
    pub depth: Option<u32>,
}

impl MoveNumbers {
    /// Stores the time that a command `clk`, `emt` or `timestamp` contains. Returns `false` for other
    /// commands, or if the time is invalid or already known.
    pub(super) fn take(&mut self, name: &str, value: &[u8]) -> bool {
        match name {
            "clk" => fill(&mut self.clock, clock(value)),
            "emt" => fill(&mut self.elapsed, clock(value).or_else(|| unsigned(decimal(value, 2)))),
            "timestamp" => fill(&mut self.elapsed, unsigned(decimal(value, 1))),
            _ => false,
        }
    }

    pub(super) fn take_eval(&mut self, read: Option<(Eval, Option<u32>)>) -> bool {
        let Some((eval, depth)) = read.filter(|_| self.eval.is_none()) else { return false };
        (self.eval, self.depth) = (Some(eval), depth);
        true
    }

    /// Stores the values of a comment in the form of Cutechess, XBoard or Arena. Such a comment has a score,
    /// a depth, and optionally a time, nodes, and words after a comma. `None` if the comment does not have
    /// this form, if its evaluation or its time is already known, or if `mover` is `None`.
    pub(super) fn take_score(&mut self, text: &str, mover: Option<Color>) -> Option<()> {
        // Expected moves, or a single move, can be given in parentheses before the score.
        let text = match text.strip_prefix('(') {
            Some(moves) => moves.split_once(") ")?.1,
            None => text,
        };
        let (score, rest) = text.split_once('/')?;
        if !score.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | 'M')) {
            return None;
        }
        let is_written_so = score.contains(['.', 'M']);
        let eval = score_or_plies(score).filter(|_| is_written_so && self.eval.is_none())?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (depth, rest) = rest.split_at(digits);
        let depth = depth.parse().ok()?;
        let time = rest.strip_prefix(", ").or_else(|| rest.strip_prefix(' ')).unwrap_or_default();
        let (time, words) = time.split_once(", ").map_or((time, None), |(time, words)| (time, Some(words)));
        let mut items = time.split(' ');
        let first = items.next().unwrap_or_default();
        let elapsed = time_used(first);
        // Words are allowed only after a comma. Without a comma, only numbers can follow a time.
        let is_numbers = items.all(|item| number(item.as_bytes()).is_some());
        let fits = rest.is_empty() || elapsed.is_some() && is_numbers || rest.starts_with(", ");
        let repeats = elapsed.is_some() && self.elapsed.is_some();
        // `1.5/2 and a half` is not a score with a depth, nor is `0.5/1, which won the match`.
        let is_signed = score.starts_with(['+', '-', 'M']) || score == "0.00" || elapsed.is_some();
        if !fits || repeats || (words.is_some() || !first.is_empty()) && !is_signed {
            return None;
        }
        self.eval = Some(eval.for_white(mover?));
        self.depth = Some(depth);
        self.elapsed = self.elapsed.or(elapsed);
        Some(())
    }

    /// Stores the values of a comment in TCEC's form, except those that are already known. `ev`, the
    /// evaluation from the mover's view, is used only if there is no `wv`, the evaluation from White's view.
    pub(super) fn take_tcec(&mut self, text: &str, mover: Option<Color>) {
        let is_key = |key: &str| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let begins = text
            .find(['=', ','])
            .is_some_and(|end| text[end..].starts_with('=') && is_key(text[..end].trim_ascii_end()));
        if !begins {
            return;
        }
        let time = |text: &str| clock(text.as_bytes()).or_else(|| unsigned(decimal(text.as_bytes(), -1)));
        let (mut value, mut own, mut depth) = (None, None, None);
        for (key, text) in text.split(',').filter_map(|pair| pair.split_once('=')) {
            let text = text.trim_ascii();
            match key.trim_ascii() {
                "d" | "Depth" => depth = depth.or_else(|| unsigned(decimal(text.as_bytes(), 0))),
                "wv" => value = value.or_else(|| score_or_plies(text)),
                "ev" | "Eval" => own = own.or_else(|| score_or_plies(text)),
                "mt" | "MoveTime" => _ = fill(&mut self.elapsed, time(text)),
                "tl" | "TimeLeft" => _ = fill(&mut self.clock, time(text)),
                _ => {}
            }
        }
        let own = own.zip(mover).map(|(own, mover)| own.for_white(mover));
        self.take_eval(value.or(own).map(|value| (value, depth)));
    }

    /// Whether no number is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// These numbers without those that are equal in `others`. An evaluation and its depth are removed only
    /// together.
    #[must_use]
    pub fn without(self, others: Self) -> Self {
        let is_other = (self.eval, self.depth) != (others.eval, others.depth);
        Self {
            clock: self.clock.filter(|_| self.clock != others.clock),
            elapsed: self.elapsed.filter(|_| self.elapsed != others.elapsed),
            eval: self.eval.filter(|_| is_other),
            depth: self.depth.filter(|_| is_other),
        }
    }

    /// The commands that represent these numbers, each with its name and value.
    pub fn commands(&self) -> impl Iterator<Item = (&'static str, String)> {
        let eval = self.eval.map(|eval| {
            let value = match eval {
                Eval::Mate(moves) => format!("#{moves}"),
                Eval::Centipawns(value) => {
                    let sign = if value < 0 { "-" } else { "" };
                    let value = value.unsigned_abs();
                    format!("{sign}{}.{:02}", value / 100, value % 100)
                }
            };
            let depth = self.depth.map(|depth| format!(",{depth}"));
            ("eval", value + &depth.unwrap_or_default())
        });
        let clock = self.clock.map(|clock| ("clk", time(clock)));
        let elapsed = self.elapsed.map(|elapsed| ("emt", time(elapsed)));
        eval.into_iter().chain(clock).chain(elapsed)
    }
}

/// Formats centiseconds as `0:02:59.9`: hours, minutes, seconds.
#[must_use]
pub fn time(centiseconds: u32) -> String {
    let (seconds, part) = (centiseconds / 100, centiseconds % 100);
    let text = format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (part, part % 10) {
        (0, _) => text,
        (_, 0) => format!("{text}.{}", part / 10),
        _ => format!("{text}.{part:02}"),
    }
}

/// Sets a value that is not known yet. Returns whether the value was set.
fn fill(known: &mut Option<u32>, value: Option<u32>) -> bool {
    let takes = known.is_none() && value.is_some();
    *known = known.or(value);
    takes
}

/// Parses `1:02:03` or `1:02:03.45` as centiseconds.
pub(crate) fn clock(text: &[u8]) -> Option<u32> {
    let mut parts = text.splitn(3, |&byte| byte == b':');
    let mut whole = || number(parts.next()?);
    let (hours, minutes) = (whole()?, whole()?);
    let seconds = parts.next()?;
    if !seconds.first()?.is_ascii_digit() {
        return None;
    }
    let minutes = hours.checked_mul(60)?.checked_add(minutes)?;
    unsigned(minutes.checked_mul(6000)?.checked_add(decimal(seconds, 2)?))
}

/// Parses an evaluation (`0.35`, `#-3` or `35,22`) and its depth. Also returns whether the evaluation is in
/// ChessBase's form, and therefore from the mover's view. `is_chessbase` says whether the game has had
/// evaluations in this form, and becomes `true` if this evaluation has the form.
pub(super) fn eval(text: &[u8], is_chessbase: &mut bool) -> Option<(Eval, Option<u32>, bool)> {
    let comma = memchr::memchr(b',', text);
    let (value, depth) = comma.map_or((text, None), |comma| (&text[..comma], Some(&text[comma + 1..])));
    let depth = match depth {
        Some(depth) => Some(u32::try_from(number(depth.trim_ascii())?).ok()?),
        None => None,
    };
    let (sign, unsigned) = match value {
        [b'-', rest @ ..] => (-1, rest),
        _ => (1, value),
    };
    let (eval, is_movers) = if let [b'#', moves @ ..] = unsigned {
        let moves = i32::try_from(sign * decimal(moves, 0)?).ok()?;
        (Eval::Mate(moves), depth.is_some() && *is_chessbase)
    } else {
        let is_in_centipawns = depth.is_some() && !value.contains(&b'.');
        let value = decimal(value, if is_in_centipawns { 0 } else { 2 })?;
        (Eval::Centipawns(i32::try_from(value).ok()?), is_in_centipawns)
    };
    *is_chessbase |= is_movers;
    Some((eval, depth, is_movers))
}

/// Parses a score in pawns (`-0.35`) or in plies to mate (`M19`, `-M18`).
fn score_or_plies(text: &str) -> Option<Eval> {
    let (sign, rest) = split_sign(text.as_bytes());
    if let [b'M', plies @ ..] = rest {
        let moves = (number(plies)? + 1) / 2;
        return Some(Eval::Mate(i32::try_from(sign * moves).ok()?));
    }
    if !rest.first()?.is_ascii_digit() {
        return None;
    }
    Some(Eval::Centipawns(i32::try_from(sign * decimal(rest, 2)?).ok()?))
}

/// Parses `1.2s`, `45`, `1:05` or `0:01:05` as centiseconds.
fn time_used(text: &str) -> Option<u32> {
    let text = text.strip_suffix('s').unwrap_or(text);
    match text.matches(':').count() {
        0 if text.starts_with(|first: char| first.is_ascii_digit()) => unsigned(decimal(text.as_bytes(), 2)),
        1 => clock(format!("0:{text}").as_bytes()),
        2 => clock(text.as_bytes()),
        _ => None,
    }
}

/// Whether a command with a number is written as [`MoveNumbers::commands`] writes it.
pub(super) fn is_usual(name: &str, value: &str) -> bool {
    let is_number = |text: &[u8]| {
        text == b"0" || matches!(text, [b'1'..=b'9', rest @ ..] if rest.iter().all(u8::is_ascii_digit))
    };
    let value = value.as_bytes();
    if name == "eval" {
        let comma = memchr::memchr(b',', value);
        let (score, depth) =
            comma.map_or((value, None), |comma| (&value[..comma], Some(&value[comma + 1..])));
        let is_score = match score {
            [b'#', b'-', moves @ ..] => is_number(moves) && moves != b"0",
            [b'#', moves @ ..] => is_number(moves),
            [whole @ .., b'.', tenth, hundredth] if tenth.is_ascii_digit() && hundredth.is_ascii_digit() => {
                is_number(whole.strip_prefix(b"-").unwrap_or(whole)) && score != b"-0.00"
            }
            _ => false,
        };
        return is_score && depth.is_none_or(is_number);
    }
    let Some(hours) = memchr::memchr(b':', value).filter(|_| matches!(name, "clk" | "emt")) else {
        return false;
    };
    let is_sixty = |tens: u8, ones: u8| matches!(tens, b'0'..=b'5') && ones.is_ascii_digit();
    let [b':', m, n, b':', s, t, part @ ..] = &value[hours..] else { return false };
    let is_part = matches!(part, [] | [b'.', b'1'..=b'9'] | [b'.', b'0'..=b'9', b'1'..=b'9']);
    is_number(&value[..hours]) && is_sixty(*m, *n) && is_sixty(*s, *t) && is_part
}

/// Parses an integer of at most 18 digits, without a sign.
fn number(text: &[u8]) -> Option<i64> {
    const MOST: usize = 18;
    let is_number = (1..=MOST).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| text.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
}

/// The sign of a number, as a factor, and the text after it.
fn split_sign(text: &[u8]) -> (i64, &[u8]) {
    match text {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        _ => (1, text),
    }
}

fn unsigned(number: Option<i64>) -> Option<u32> {
    u32::try_from(number?).ok()
}

/// Parses a decimal number and multiplies it by ten to the power of `places`, rounding half away from zero.
fn decimal(text: &[u8], places: i32) -> Option<i64> {
    const MOST: usize = 12;
    let (sign, text) = split_sign(text);
    let point = memchr::memchr(b'.', text);
    let (whole, part) = point.map_or((text, &[][..]), |point| (&text[..point], &text[point + 1..]));
    if whole.len() + part.len() == 0 || whole.len() > MOST {
        return None;
    }
    let mut digits = whole.iter().chain(part);
    if !digits.clone().all(u8::is_ascii_digit) {
        return None;
    }
    let kept = i64::try_from(whole.len()).ok()? + i64::from(places);
    let mut value = 0;
    for _ in 0..kept.max(0) {
        value = value * 10 + digits.next().map_or(0, |digit| i64::from(digit - b'0'));
    }
    // The first omitted digit determines the rounding. If `kept` is negative, the value is too small to be
    // rounded up.
    let rounds = kept >= 0 && digits.next().is_some_and(|digit| *digit >= b'5');
    Some(sign * (value + i64::from(rounds)))
}

/// The evaluation of a position, from White's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eval {
    /// Centipawns.
    Centipawns(i32),
    /// Moves to mate; negative if Black mates.
    Mate(i32),
}

impl Eval {
    /// The evaluation from two columns, centipawns and moves to mate, of which at most one has a value.
    #[must_use]
    pub(crate) fn from_columns(centipawns: Option<i32>, mate: Option<i32>) -> Option<Self> {
        centipawns.map(Self::Centipawns).or(mate.map(Self::Mate))
    }

    /// The values of the two columns for an evaluation: centipawns and moves to mate.
    #[must_use]
    pub(crate) const fn columns(value: Option<Self>) -> (Option<i32>, Option<i32>) {
        match value {
            Some(Self::Centipawns(value)) => (Some(value), None),
            Some(Self::Mate(moves)) => (None, Some(moves)),
            None => (None, None),
        }
    }

    /// Converts an evaluation from the view of `side` to White's view.
    pub(super) const fn for_white(self, side: Color) -> Self {
        match (side, self) {
            (Color::White, eval) => eval,
            (Color::Black, Self::Centipawns(value)) => Self::Centipawns(value.saturating_neg()),
            (Color::Black, Self::Mate(moves)) => Self::Mate(moves.saturating_neg()),
        }
    }

    /// White's [winning chances](winning_chances). A mate counts as 1000 centipawns. The result is `None` for
    /// a mate in 0, because it is unknown which side is mated.
    #[must_use]
    pub fn winning_chances(self) -> Option<f64> {
        match self {
            Self::Centipawns(value) => Some(winning_chances(value.into())),
            Self::Mate(0) => None,
            Self::Mate(moves) => Some(winning_chances(CEILING.copysign(moves.into()))),
        }
    }
}

/// Evaluations beyond this number of centipawns have the same winning chances as this number.
const CEILING: f64 = 1000.0;

/// White's chances, from -1 (Black wins) to 1 (White wins), by [Lichess's
/// formula](https://lichess.org/page/accuracy). As in scalachess's `WinPercent`, evaluations are limited to
/// 1000 centipawns, and a mate counts as 1000 (see [`Eval::winning_chances`]).
#[must_use]
pub fn winning_chances(centipawns: f64) -> f64 {
    const MULTIPLIER: f64 = -0.003_682_08;
    2.0 / (1.0 + (MULTIPLIER * centipawns.clamp(-CEILING, CEILING)).exp()) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_half_away_from_zero() {
        let cases: [(&[u8], i32, Option<i64>); 10] = [
            (b"0.005", 2, Some(1)),
            (b"-0.005", 2, Some(-1)),
            (b"0.0049", 2, Some(0)),
            (b"5", -1, Some(1)),
            (b"4", -1, Some(0)),
            (b"15", -1, Some(2)),
            (b".5", 0, Some(1)),
            (b"1.", 2, Some(100)),
            (b".", 2, None),
            (b"1e5", 2, None),
        ];
        for (text, places, value) in cases {
            assert_eq!(decimal(text, places), value, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn written_numbers_are_read_again() {
        for centiseconds in [0, 1, 10, 99, 100, 6_000, 359_999, 360_000, u32::MAX] {
            let text = time(centiseconds);
            assert_eq!(clock(text.as_bytes()), Some(centiseconds), "{text}");
            assert!(is_usual("clk", &text) && !is_usual("clk", &format!("0{text}")), "{text}");
        }
        for value in [0, 1, -1, 99, -100, 12_345, i32::MAX, i32::MIN] {
            for eval in [Eval::Centipawns(value), Eval::Mate(value)] {
                for depth in [None, Some(0), Some(u32::MAX)] {
                    let numbers = MoveNumbers { eval: Some(eval), depth, ..MoveNumbers::default() };
                    let (_, text) = numbers.commands().next().expect("a command");
                    assert!(is_usual("eval", &text), "{text}");
                    let read = super::eval(text.as_bytes(), &mut false);
                    assert_eq!(read, Some((eval, depth, false)), "{text}");
                }
            }
        }
    }
}
