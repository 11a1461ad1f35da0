//! Parses comments, which consist of clock times, evaluations, commands and text.
//!
//! | written as | by | meaning |
//! |---|---|---|
//! | `[%clk 0:02:59.9]` | Lichess, chess.com | time left |
//! | `[%emt 0:00:03]`, `[%emt 3.2]` | ChessBase, FICS | time used, the second form in seconds |
//! | `[%timestamp 32]` | chess.com | time used in tenths of a second |
//! | `[%eval 0.35]`, `[%eval -1.2,22]`, `[%eval #-3]` | Lichess | White's view in pawns, moves to mate, depth |
//! | `[%eval 35,22]`, `[%eval -#3,22]` | ChessBase | the mover's view in centipawns, as a whole number with a depth; after such a value in the same game, also moves to mate with a depth |
//! | `+0.35/22 1.2s`, `-M9/30 0.5s, some text` | Cutechess, CCRL, fastchess | the mover's view in pawns or plies to mate, depth, time used |
//! | `+0.35/22 1:05`, `(e7e5) +0.35/22 12 1234567` | XBoard, Arena, BanksiaGUI | the same values as in the row above, the time in seconds or as a clock; nodes |
//! | `d=20, mt=3000, tl=60000, wv=0.31` | TCEC | depth, milliseconds used and left, White's view in pawns or plies to mate |
//! | `ev=-0.31, d=20, mt=00:00:03, tl=01:00:00` | TCEC until 2013 | the same values as in the row above, but the mover's view, and times as clocks |

use super::move_numbers::{Eval, MoveNumbers, eval, is_usual};
use super::text::decode;
use crate::board::Color;

/// Parses the comments of games.
#[derive(Clone, Debug, Default)]
pub struct CommentReader {
    text: String,
    /// Whether the current game has had evaluations in ChessBase's form so far.
    is_chessbase: bool,
    /// Whether the evaluation in the current command is written from White's view, or would be the same from
    /// that view. Also `true` if the current command is not `eval`.
    is_own_view: bool,
}

impl CommentReader {
    /// Continues with the comments of another game.
    pub const fn begin_game(&mut self) {
        self.is_chessbase = false;
    }

    /// Parses a comment. `numbers` contains the numbers already known for this move, and receives new ones;
    /// it is `None` if no numbers are wanted. `mover` is the side that has just moved, if known. `command` is
    /// called with the name and the value of each command that cannot be restored from the numbers. A command
    /// can be restored if its number was stored and the command is written as [`MoveNumbers::commands`]
    /// writes it. Returns the text without commands, with single spaces between words and no spaces at the
    /// ends.
    pub fn read(
        &mut self,
        comment: &[u8],
        mover: Option<Color>,
        mut numbers: Option<&mut MoveNumbers>,
        mut command: impl FnMut(&str, &str),
    ) -> &str {
        self.text.clear();
        let comment = decode(comment);
        // No command ends after the last closing bracket, so nothing after it needs to be searched.
        let end = memchr::memrchr(b']', comment.as_bytes()).map_or(0, |last| last + 1);
        let (mut rest, tail) = comment.split_at(end);
        let mut has_removed = false;
        // Commands begin with `[%`. Text that begins like a command but is not one is kept.
        while let Some(found) = memchr::memmem::find(rest.as_bytes(), b"[%") {
            let Some((name, value, after)) = read_command(&rest[found + 2..]) else {
                self.push(&rest[..found + 2]);
                rest = &rest[found + 2..];
                continue;
            };
            self.push(&rest[..found]);
            rest = after;
            // A removed command separates words.
            self.push(" ");
            has_removed = true;
            self.is_own_view = true;
            let taken = numbers.as_deref_mut().is_some_and(|numbers| match name {
                "eval" if numbers.eval.is_some() => false,
                "eval" => numbers.take_eval(self.eval(value.as_bytes(), mover)),
                name => numbers.take(name, value.as_bytes()),
            });
            if !(taken && self.is_own_view && is_usual(name, value)) {
                command(name, joined(value).as_deref().unwrap_or(value));
            }
        }
        self.push(rest);
        self.push(tail);
        if has_removed {
            self.separate_brackets();
        }
        let length = self.text.trim_end_matches(' ').len();
        self.text.truncate(length);
        if let Some(numbers) = numbers.filter(|_| length > 0)
            && numbers.take_score(&self.text, mover).is_none()
        {
            numbers.take_tcec(&self.text, mover);
        }
        &self.text
    }

    /// Parses the value of a command `eval`.
    fn eval(&mut self, value: &[u8], mover: Option<Color>) -> Option<(Eval, Option<u32>)> {
        let (written, depth, is_movers) = eval(value, &mut self.is_chessbase)?;
        let eval = mover.filter(|_| is_movers).map_or(written, |mover| written.for_white(mover));
        self.is_own_view = eval == written;
        Some((eval, depth))
    }

    /// Inserts a space between `[` and `%` where the remaining text seems to begin a command, as after the
    /// removal of `[%b]` from `[%a[%b] c]`. Otherwise, parsing the text again would find a command.
    fn separate_brackets(&mut self) {
        if memchr::memmem::find(self.text.as_bytes(), b"[%").is_none() {
            return;
        }
        let text = std::mem::take(&mut self.text);
        let end = memchr::memrchr(b']', text.as_bytes()).unwrap_or(0);
        let mut done = 0;
        while let Some(found) = memchr::memmem::find(&text.as_bytes()[done..], b"[%") {
            let next = done + found + 1;
            self.text.push_str(&text[done..next]);
            if next < end && name_length(&text[next + 1..]).is_some() {
                self.text.push(' ');
            }
            done = next;
        }
        self.text.push_str(&text[done..]);
    }

    /// Adds a piece of text. Consecutive blanks become one space.
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

/// Whether a character counts as a blank: a space, a line end, a tab or another control character.
const fn is_blank(letter: char) -> bool {
    letter == ' ' || letter.is_ascii_control()
}

/// The value with single spaces between its words; `None` if it already has this form.
fn joined(value: &str) -> Option<String> {
    let is_joined = !value.contains(|letter| letter != ' ' && is_blank(letter)) && !value.contains("  ");
    let words = || value.split(is_blank).filter(|word| !word.is_empty());
    (!is_joined).then(|| words().collect::<Vec<_>>().join(" "))
}

/// The length in bytes of the name at the start of a text that follows `[%`; `None` if the text does not
/// begin with the name of a command.
fn name_length(text: &str) -> Option<usize> {
    let length = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let is_followed = text[length..].starts_with(|next: char| next == ']' || is_blank(next));
    (length > 0 && is_followed).then_some(length)
}

/// Splits a text that begins after the `[%` of a command, `[%name value]`, into the name, the value and the
/// text after the closing bracket.
fn read_command(text: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = text.split_at(name_length(text)?);
    let (value, rest) = rest.split_once(']')?;
    Some((name, value.trim_ascii(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The contents of a comment after a move of White or Black: numbers, commands, text.
    fn read(comment: &str, mover: Color) -> (MoveNumbers, Vec<String>, String) {
        let (mut numbers, mut commands) = (MoveNumbers::default(), Vec::new());
        let mut reader = CommentReader::default();
        let text = reader.read(comment.as_bytes(), Some(mover), Some(&mut numbers), |name, value| {
            commands.push(format!("{name}={value}"));
        });
        let text = text.to_owned();
        (numbers, commands, text)
    }

    fn parse_to_text(comment: &str, mover: Color) -> String {
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
            assert_eq!(parse_to_text(comment, Color::White), white, "{comment}");
        }
        assert_eq!(
            parse_to_text("+0.35/22 1.2s", Color::Black),
            "eval -0.35,22 emt 0:00:01.2||+0.35/22 1.2s"
        );
        assert_eq!(parse_to_text("wv=0.35", Color::Black), "eval 0.35||wv=0.35");
        assert_eq!(parse_to_text("[%eval -77,23]", Color::Black), "eval 0.77,23|eval=-77,23|");
        assert_eq!(parse_to_text("[%eval #-3,20]", Color::Black), "eval #-3,20||");
    }

    #[test]
    fn evaluations_are_read_in_the_forms_of_programs() {
        for (comment, expected) in [
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
            assert_eq!(parse_to_text(comment, Color::White), format!("{expected}||{comment}"));
        }
        assert_eq!(parse_to_text("ev=-0.38, d=34", Color::Black), "eval 0.38,34||ev=-0.38, d=34");
    }

    #[test]
    fn mates_in_the_form_of_chessbase_are_for_the_side_that_moved() {
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
    fn invalid_numbers_stay_commands_or_text() {
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
            assert_eq!(parse_to_text(comment, Color::White), expected, "{comment}");
        }
    }

    #[test]
    fn remaining_text_is_read_as_text_again() {
        for comment in
            ["[%a[%b] c] d", "[%a[%b] [%a[%b] c", "[%a[%b] [%c[%d] e] f", "[%a[%b]] c", "[%[%a] b]"]
        {
            let (_, _, text) = read(comment, Color::White);
            assert_eq!(read(&text, Color::White).1, Vec::<String>::new(), "{comment}: {text}");
            assert_eq!(read(&text, Color::White).2, text, "{comment}");
        }
    }

    #[test]
    fn many_brackets_take_linear_time() {
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
}
