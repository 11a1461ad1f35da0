//! Comments to what they say: numbers of a move's time and value, commands, text.
//!
//! | written as | by | says |
//! |---|---|---|
//! | `[%clk 0:02:59.9]` | Lichess, chess.com | time left |
//! | `[%emt 0:00:03]`, `[%emt 3.2]` | ChessBase, FICS | time used, the second form in seconds |
//! | `[%timestamp 32]` | chess.com | time used in tenths of a second |
//! | `[%eval 0.35]`, `[%eval -1.2,22]`, `[%eval #-3]` | Lichess | White's view in pawns, moves to mate, depth |
//! | `[%eval 35,22]`, `[%eval -#3,22]` | ChessBase | the mover's view in centipawns, a whole number with a depth; in games with such values also in moves to mate |
//! | `+0.35/22 1.2s`, `-M9/30 0.5s, some text` | Cutechess, CCRL, fastchess | the mover's view in pawns or plies to mate, depth, time used |
//! | `+0.35/22 1:05`, `(e7e5) +0.35/22 12 1234567` | XBoard, Arena, BanksiaGUI | the same, the time in seconds or as a clock, nodes |
//! | `d=20, mt=3000, tl=60000, wv=0.31` | TCEC | depth, milliseconds used and left, White's view in pawns or plies to mate |
//! | `ev=-0.31, d=20, mt=00:00:03, tl=01:00:00` | TCEC until 2013 | the mover's view; times as clocks |

use super::eval::Eval;
use super::text::decode;
use crate::board::Color;

/// What a PGN says of a move's time and value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveNumbers {
    /// Centiseconds left on the clock of the player who has just moved.
    pub clock: Option<u32>,
    /// Centiseconds used for the move.
    pub elapsed: Option<u32>,
    /// The value of the position after the move.
    pub eval: Option<Eval>,
    /// How deep it was looked for, in plies. Only with a value.
    pub depth: Option<u32>,
}

/// Reads the comments of games.
#[derive(Clone, Debug, Default)]
pub struct CommentReader {
    text: String,
    /// The present game has values in the manner of ChessBase.
    is_chessbase: bool,
    /// The last value is White's view as it is written.
    is_own_view: bool,
}

impl CommentReader {
    /// Goes on with the comments of another game.
    pub const fn begin_game(&mut self) {
        self.is_chessbase = false;
    }

    /// Reads a comment. `numbers`, if numbers are wanted, are those that are known already at its place, and are added to; `mover` is
    /// the side that has just moved. `command` is given the name and the value of each command that does not follow from the numbers:
    /// of those with a number, only if it is written in another way than [`MoveNumbers::commands`] writes it. Returns the text without
    /// commands: each run of blanks is one, and none stand around it.
    pub fn read(
        &mut self,
        comment: &[u8],
        mover: Option<Color>,
        mut numbers: Option<&mut MoveNumbers>,
        mut command: impl FnMut(&str, &str),
    ) -> &str {
        self.text.clear();
        let comment = decode(comment);
        // No command ends behind the last bracket, however many seem to begin there.
        let end = memchr::memrchr(b']', comment.as_bytes()).map_or(0, |last| last + 1);
        let (mut rest, tail) = comment.split_at(end);
        let mut has_taken_out = false;
        // Commands begin there; what looks like one and is not stays text.
        while let Some(found) = memchr::memmem::find(rest.as_bytes(), b"[%") {
            let Some(read) = Command::read(&rest[found + 2..]) else {
                self.push(&rest[..found + 2]);
                rest = &rest[found + 2..];
                continue;
            };
            self.push(&rest[..found]);
            rest = &rest[found + 2 + read.length..];
            // Where a command stood, words are apart.
            self.push(" ");
            has_taken_out = true;
            self.is_own_view = true;
            let taken = numbers.as_deref_mut().is_some_and(|numbers| match read.name {
                "eval" if numbers.eval.is_some() => false,
                "eval" => numbers.take_eval(self.eval(read.value.as_bytes(), mover)),
                name => numbers.take(name, read.value.as_bytes()),
            });
            if !(taken && self.is_own_view && is_usual(read.name, read.value)) {
                match joined(read.value) {
                    None => command(read.name, read.value),
                    Some(value) => command(read.name, &value),
                }
            }
        }
        self.push(rest);
        self.push(tail);
        if has_taken_out {
            self.part_brackets();
        }
        let length = self.text.trim_end_matches(' ').len();
        self.text.truncate(length);
        if let Some(numbers) = numbers.filter(|_| length > 0)
            && !numbers.take_score(&self.text, mover)
        {
            numbers.take_tcec(&self.text, mover);
        }
        &self.text
    }

    /// Reads the value of a command `eval`.
    fn eval(&mut self, value: &[u8], mover: Option<Color>) -> Option<(Eval, Option<u32>)> {
        let plain = eval(value, None, &mut self.is_chessbase);
        let read = eval(value, mover, &mut self.is_chessbase);
        self.is_own_view = plain == read;
        read
    }

    /// Parts the brackets of what is a command only since another was taken out of it, as in `[%a[%b] c]`: read again, it is text.
    fn part_brackets(&mut self) {
        if memchr::memmem::find(self.text.as_bytes(), b"[%").is_none() {
            return;
        }
        let text = std::mem::take(&mut self.text);
        let end = memchr::memrchr(b']', text.as_bytes()).unwrap_or(0);
        let mut done = 0;
        while let Some(found) = memchr::memmem::find(&text.as_bytes()[done..], b"[%") {
            let next = done + found + 1;
            self.text.push_str(&text[done..next]);
            if next < end && Command::name_length(&text[next + 1..]).is_some() {
                self.text.push(' ');
            }
            done = next;
        }
        self.text.push_str(&text[done..]);
    }

    /// Adds a piece of text.
    fn push(&mut self, piece: &str) {
        for letter in piece.chars() {
            if !is_blank(letter) {
                self.text.push(letter);
            } else if !self.text.is_empty() && !self.text.ends_with(' ') {
                self.text.push(' ');
            }
        }
    }
}

/// Line ends, tabs and other control characters count as blanks.
const fn is_blank(letter: char) -> bool {
    letter == ' ' || letter.is_ascii_control()
}

/// A value with each run of blanks as one; `None` if it is so already.
fn joined(value: &str) -> Option<String> {
    let is_joined = !value.contains(|letter| letter != ' ' && is_blank(letter)) && !value.contains("  ");
    if is_joined {
        return None;
    }
    let mut reader = CommentReader::default();
    reader.push(value);
    reader.text.truncate(reader.text.trim_end_matches(' ').len());
    Some(reader.text)
}

/// A command, `[%name value]`, whose first two bytes have been read.
struct Command<'t> {
    name: &'t str,
    value: &'t str,
    /// Bytes, with the closing bracket.
    length: usize,
}

impl<'t> Command<'t> {
    /// How long the name is that stands first; `None` if no command begins so.
    fn name_length(text: &str) -> Option<usize> {
        let length = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let is_followed = text[length..].starts_with(|next: char| next == ']' || is_blank(next));
        (length > 0 && is_followed).then_some(length)
    }

    fn read(text: &'t str) -> Option<Self> {
        let length = Self::name_length(text)?;
        let (name, rest) = text.split_at(length);
        let end = memchr::memchr(b']', rest.as_bytes())?;
        Some(Self { name, value: rest[..end].trim_ascii(), length: length + end + 1 })
    }
}

impl MoveNumbers {
    /// Takes the number that a command tells. Gives back whether it did: not if it is known already, or cannot be read.
    fn take(&mut self, name: &str, value: &[u8]) -> bool {
        match name {
            "clk" => fill(&mut self.clock, clock(value)),
            "emt" => fill(&mut self.elapsed, clock(value).or_else(|| unsigned(decimal(value, 2)))),
            "timestamp" => fill(&mut self.elapsed, unsigned(decimal(value, 1))),
            _ => false,
        }
    }

    fn take_eval(&mut self, read: Option<(Eval, Option<u32>)>) -> bool {
        let Some((eval, depth)) = read.filter(|_| self.eval.is_none()) else { return false };
        (self.eval, self.depth) = (Some(eval), depth);
        true
    }

    /// Takes what a comment in the manner of Cutechess, XBoard or Arena says: a score, a depth, and perhaps a time, nodes, and words after
    /// a comma. Returns whether it is such a comment.
    fn take_score(&mut self, text: &str, mover: Option<Color>) -> bool {
        self.read_score(text, mover).is_some()
    }

    fn read_score(&mut self, text: &str, mover: Option<Color>) -> Option<()> {
        // The moves that were expected, or a move before it.
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
        // Words stand after a comma, and after a time there are only numbers.
        let is_numbers = items.all(|item| number(item.as_bytes()).is_some());
        let fits = rest.is_empty() || elapsed.is_some() && is_numbers || rest.starts_with(", ");
        let repeats = elapsed.is_some() && self.elapsed.is_some();
        // `1.5/2 and a half` is not such a comment, nor is `0.5/1, which won the match`.
        let is_signed = score.starts_with(['+', '-', 'M']) || score == "0.00" || elapsed.is_some();
        if !fits || repeats || (words.is_some() || !first.is_empty()) && !is_signed {
            return None;
        }
        self.eval = Some(if mover? == Color::White { eval } else { eval.turned() });
        self.depth = Some(depth);
        self.elapsed = self.elapsed.or(elapsed);
        Some(())
    }

    /// Takes what a comment in the manner of TCEC says and is not known: `ev`, the mover's view, only without `wv`, White's.
    fn take_tcec(&mut self, text: &str, mover: Option<Color>) {
        fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
            let pairs = text.split(',').filter_map(|pair| pair.trim_ascii().split_once('='));
            pairs.map(|(key, value)| (key.trim_ascii_end(), value.trim_ascii_start()))
        }
        let is_key = |key: &str| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let begins = text
            .find(['=', ','])
            .is_some_and(|end| text[end..].starts_with('=') && is_key(text[..end].trim_ascii_end()));
        if !begins {
            return;
        }
        let time = |text: &str| clock(text.as_bytes()).or_else(|| unsigned(decimal(text.as_bytes(), -1)));
        let (mut value, mut own, mut depth) = (None, None, None);
        for (key, text) in pairs(text) {
            match key {
                "d" | "Depth" => depth = depth.or_else(|| unsigned(decimal(text.as_bytes(), 0))),
                "wv" => value = value.or_else(|| score_or_plies(text)),
                "ev" | "Eval" => own = own.or_else(|| score_or_plies(text)),
                "mt" | "MoveTime" => _ = fill(&mut self.elapsed, time(text)),
                "tl" | "TimeLeft" => _ = fill(&mut self.clock, time(text)),
                _ => {}
            }
        }
        let own = own.zip(mover).map(|(own, mover)| if mover == Color::White { own } else { own.turned() });
        self.take_eval(value.or(own).map(|value| (value, depth)));
    }

    /// Whether nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// These numbers without those that are also in others; a value goes with its depth.
    #[must_use]
    pub fn without(self, others: Self) -> Self {
        let eval = if (self.eval, self.depth) == (others.eval, others.depth) {
            (None, None)
        } else {
            (self.eval, self.depth)
        };
        Self {
            clock: self.clock.filter(|_| self.clock != others.clock),
            elapsed: self.elapsed.filter(|_| self.elapsed != others.elapsed),
            eval: eval.0,
            depth: eval.1,
        }
    }

    /// The commands that say the same, each with its name and value.
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

/// Centiseconds as `0:02:59.9`: hours, minutes, seconds.
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

/// Sets what is not known yet. Gives back whether it did.
fn fill(known: &mut Option<u32>, value: Option<u32>) -> bool {
    let takes = known.is_none() && value.is_some();
    *known = known.or(value);
    takes
}

/// `1:02:03` or `1:02:03.45`, in centiseconds.
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

/// `0.35`, `#-3` or `35,22`, with its depth. Whether the game has values in the manner of ChessBase is looked at and noted.
fn eval(text: &[u8], mover: Option<Color>, is_chessbase: &mut bool) -> Option<(Eval, Option<u32>)> {
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
    let mut is_movers = false;
    let eval = if let [b'#', moves @ ..] = unsigned {
        is_movers = depth.is_some() && *is_chessbase;
        Eval::Mate(i32::try_from(sign * decimal(moves, 0)?).ok()?)
    } else if depth.is_some() && !value.contains(&b'.') {
        is_movers = true;
        Eval::Centipawns(i32::try_from(decimal(value, 0)?).ok()?)
    } else {
        Eval::Centipawns(i32::try_from(decimal(value, 2)?).ok()?)
    };
    *is_chessbase |= is_movers;
    Some((if is_movers && mover == Some(Color::Black) { eval.turned() } else { eval }, depth))
}

/// `-0.35`, in pawns, or `M19`, `-M18`: plies to mate.
fn score_or_plies(text: &str) -> Option<Eval> {
    let (sign, rest) = match text.as_bytes() {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        rest => (1, rest),
    };
    if let [b'M', plies @ ..] = rest {
        let moves = (number(plies)? + 1) / 2;
        return Some(Eval::Mate(i32::try_from(sign * moves).ok()?));
    }
    if !rest.first()?.is_ascii_digit() {
        return None;
    }
    Some(Eval::Centipawns(i32::try_from(sign * decimal(rest, 2)?).ok()?))
}

/// `1.2s`, `45`, `1:05` or `0:01:05`, in centiseconds.
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
fn is_usual(name: &str, value: &str) -> bool {
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

/// A whole number without a sign.
fn number(text: &[u8]) -> Option<i64> {
    const MOST: usize = 18;
    let is_number = (1..=MOST).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| text.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
}

fn unsigned(number: Option<i64>) -> Option<u32> {
    u32::try_from(number?).ok()
}

/// A decimal number times ten to the power of `places`, rounded half away from zero.
fn decimal(text: &[u8], places: i32) -> Option<i64> {
    const MOST: usize = 12;
    let (sign, text) = match text {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        _ => (1, text),
    };
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
    // The first digit that is left out rounds; of one before the first there is nothing to round.
    let rounds = kept >= 0 && digits.next().is_some_and(|digit| *digit >= b'5');
    Some(sign * (value + i64::from(rounds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a comment says after a move of White or Black: numbers, commands, text.
    fn read(comment: &str, mover: Color) -> (MoveNumbers, Vec<String>, String) {
        let (mut numbers, mut commands) = (MoveNumbers::default(), Vec::new());
        let mut reader = CommentReader::default();
        let text = reader.read(comment.as_bytes(), Some(mover), Some(&mut numbers), |name, value| {
            commands.push(format!("{name}={value}"));
        });
        let text = text.to_owned();
        (numbers, commands, text)
    }

    fn told(comment: &str, mover: Color) -> String {
        let (numbers, commands, text) = read(comment, mover);
        let numbers: Vec<_> = numbers.commands().map(|(name, value)| format!("{name} {value}")).collect();
        [numbers.join(" "), commands.join(" "), text].join("|")
    }

    #[test]
    fn each_dialect_is_read() {
        for (comment, white) in [
            (" [%eval 0.12] [%clk 0:03:00] ", "eval 0.12 clk 0:03:00||"),
            ("[%clk 0:02:59.9]", "clk 0:02:59.9||"),
            ("[%clk 0:02:59.9][%timestamp 1]", "clk 0:02:59.9 emt 0:00:00.1|timestamp=1|"),
            ("[%emt 1.549]", "emt 0:00:01.55|emt=1.549|"),
            ("[%emt 0.0]", "emt 0:00:00|emt=0.0|"),
            ("[%emt 1.]", "emt 0:00:01|emt=1.|"),
            ("[%emt 00:01:44]", "emt 0:01:44|emt=00:01:44|"),
            ("[%eval -1.2,22]", "eval -1.20,22|eval=-1.2,22|"),
            ("[%eval #-3]", "eval #-3||"),
            ("[%eval -#26,30]", "eval #-26,30|eval=-#26,30|"),
            ("[%eval 3]", "eval 3.00|eval=3|"),
            (
                "(Rb8) [%eval -77,23] [%emt 00:02:50]",
                "eval -0.77,23 emt 0:02:50|eval=-77,23 emt=00:02:50|(Rb8)",
            ),
            ("+0.35/22 1.2s", "eval 0.35,22 emt 0:00:01.2||+0.35/22 1.2s"),
            ("-M9/30 0.5s, White mates", "eval #-5,30 emt 0:00:00.5||-M9/30 0.5s, White mates"),
            ("0.00/1", "eval 0.00,1||0.00/1"),
            (
                "d=20, mt=3005, tl=60000, wv=-0.31, pv=e4 e5,",
                "eval -0.31,20 clk 0:01:00 emt 0:00:03.01||d=20, mt=3005, tl=60000, wv=-0.31, pv=e4 e5,",
            ),
            ("d=20, wv=M20", "eval #10,20||d=20, wv=M20"),
            ("book, mb=+0+0", "||book, mb=+0+0"),
        ] {
            assert_eq!(told(comment, Color::White), white, "{comment}");
        }
        assert_eq!(told("+0.35/22 1.2s", Color::Black), "eval -0.35,22 emt 0:00:01.2||+0.35/22 1.2s");
        assert_eq!(told("wv=0.35", Color::Black), "eval 0.35||wv=0.35");
        assert_eq!(told("[%eval -77,23]", Color::Black), "eval 0.77,23|eval=-77,23|");
        assert_eq!(told("[%eval #-3,20]", Color::Black), "eval #-3,20||");
    }

    #[test]
    fn scores_of_engines_are_read_as_programs_write_them() {
        for (comment, said) in [
            ("+0.25/12 2.3", "eval 0.25,12 emt 0:00:02.3"),
            ("-0.10/11", "eval -0.10,11"),
            ("+0.31/13 45", "eval 0.31,13 emt 0:00:45"),
            ("+0.12/12 1:05", "eval 0.12,12 emt 0:01:05"),
            ("+0.12/12 0:01:05", "eval 0.12,12 emt 0:01:05"),
            ("+0.28/10, 0.104s", "eval 0.28,10 emt 0:00:00.1"),
            ("+0.28/10 0.104s, n=12345, sd=20, nps=1234567", "eval 0.28,10 emt 0:00:00.1"),
            ("+0.28/10, 0.104s, nodes,12345, seldepth, 20, nps, 1234567", "eval 0.28,10 emt 0:00:00.1"),
            ("0.00/20 0.1s, Draw by 3-fold repetition", "eval 0.00,20 emt 0:00:00.1"),
            ("+M5/20 0.1s, White mates", "eval #3,20 emt 0:00:00.1"),
            ("(e7e5 Ng1f3) +0.12/13 15", "eval 0.12,13 emt 0:00:15"),
            ("0.31/25 12.5 123456789", "eval 0.31,25 emt 0:00:12.5"),
            ("ev=0.31, d=20, mt=00:01:26, tl=01:57:05, s=1 kN/s", "eval 0.31,20 clk 1:57:05 emt 0:01:26"),
            ("ev=-0.38, d=34, mt=00:01:20, tl=01:56:15, wv=0.38,", "eval 0.38,34 clk 1:56:15 emt 0:01:20"),
            (
                "Eval = 0.31, Depth = 20, MoveTime = 00:01:26, TimeLeft = 01:57:05",
                "eval 0.31,20 clk 1:57:05 emt 0:01:26",
            ),
            ("1.5/2 and a half", ""),
            ("0.5/1, which won the match", ""),
            ("(see above) 12/13", ""),
            ("book", ""),
        ] {
            assert_eq!(told(comment, Color::White), format!("{said}||{comment}"));
        }
        assert_eq!(told("ev=-0.38, d=34", Color::Black), "eval 0.38,34||ev=-0.38, d=34");
    }

    #[test]
    fn mates_of_a_game_with_values_of_chessbase_are_the_movers() {
        let mut reader = CommentReader::default();
        let mut value = |comment: &[u8]| {
            let mut numbers = MoveNumbers::default();
            reader.read(comment, Some(Color::Black), Some(&mut numbers), |_, _| {});
            numbers.eval
        };
        assert_eq!(value(b"[%eval #3,20]"), Some(Eval::Mate(3)));
        assert_eq!(value(b"[%eval 800,20]"), Some(Eval::Centipawns(-800)));
        assert_eq!(value(b"[%eval -#3,20]"), Some(Eval::Mate(3)));
        assert_eq!(value(b"[%eval #3]"), Some(Eval::Mate(3)));
        reader.begin_game();
        let mut numbers = MoveNumbers::default();
        reader.read(b"[%eval #3,20]", Some(Color::Black), Some(&mut numbers), |_, _| {});
        assert_eq!(numbers.eval, Some(Eval::Mate(3)));
    }

    #[test]
    fn what_is_no_number_stays_a_command_or_text() {
        for (comment, expected) in [
            ("[%clk 0:15.16] a", "|clk=0:15.16|a"),
            ("[%clk 9]", "|clk=9|"),
            ("[%clk -1:00:00]", "|clk=-1:00:00|"),
            ("[%clk 99999999:00:00]", "|clk=99999999:00:00|"),
            ("[%eval 1.2.3] [%eval x,3] [%eval 1,]", "|eval=1.2.3 eval=x,3 eval=1,|"),
            ("[%eval 0.1][%eval 0.2]", "eval 0.10|eval=0.1 eval=0.2|"),
            ("a[%cal Ga1b2,\n Re4e5]b", "|cal=Ga1b2, Re4e5|a b"),
            ("  many\r\n\tblanks  ", "||many blanks"),
            ("[%] [% x] [%a", "||[%] [% x] [%a"),
            ("1/2-1/2 Hunt,H 1996", "||1/2-1/2 Hunt,H 1996"),
            ("+0.35/22 1.2s or so", "||+0.35/22 1.2s or so"),
            ("[%eval 0.1] +0.35/22 1.2s", "eval 0.10|eval=0.1|+0.35/22 1.2s"),
            ("[%empty]", "|empty=|"),
            ("[%cal \u{1}a\u{1}]", "|cal=a|"),
            ("[%cal\u{1}] [%{[%a\u{1}]", "|cal= a=|[%{"),
            ("[%a[%b] c] [%[%d]e]", "|b= d=|[ %a c] [% e]"),
        ] {
            assert_eq!(told(comment, Color::White), expected, "{comment}");
        }
    }

    #[test]
    fn text_that_is_left_is_read_as_text_again() {
        for comment in
            ["[%a[%b] c] d", "[%a[%b] [%a[%b] c", "[%a[%b] [%c[%d] e] f", "[%a[%b]] c", "[%[%a] b]"]
        {
            let (_, _, text) = read(comment, Color::White);
            assert_eq!(read(&text, Color::White).1, Vec::<String>::new(), "{comment}: {text}");
            assert_eq!(read(&text, Color::White).2, text, "{comment}");
        }
    }

    #[test]
    fn many_brackets_take_time_by_their_number() {
        for piece in ["[%", "[%a ", "[%a[%b] ", "[% ]", "[%-"] {
            let mut comment = piece.repeat(200_000);
            for end in ["]", "", " end"] {
                comment.push_str(end);
                let began = std::time::Instant::now();
                _ = read(&comment, Color::White);
                let elapsed = began.elapsed();
                assert!(elapsed < std::time::Duration::from_secs(5), "{piece}: {elapsed:?}");
            }
        }
    }

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
    fn numbers_are_read_as_they_are_written() {
        for centiseconds in [0, 1, 10, 99, 100, 6_000, 359_999, 360_000, u32::MAX] {
            let text = time(centiseconds);
            assert_eq!(clock(text.as_bytes()), Some(centiseconds), "{text}");
            assert!(is_usual("clk", &text) && !is_usual("clk", &format!("0{text}")), "{text}");
        }
        for value in [0, 1, -1, 99, -100, 12_345, i32::MAX, i32::MIN] {
            for eval in [Eval::Centipawns(value), Eval::Mate(value)] {
                for depth in [None, Some(0), Some(u32::MAX)] {
                    let numbers = MoveNumbers { eval: Some(eval), depth, ..MoveNumbers::default() };
                    let (_, text) = numbers.commands().next().expect("one");
                    assert!(is_usual("eval", &text), "{text}");
                    let read = super::eval(text.as_bytes(), Some(Color::Black), &mut false);
                    assert_eq!(read, Some((eval, depth)), "{text}");
                }
            }
        }
    }
}
