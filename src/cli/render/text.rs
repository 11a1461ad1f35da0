//! Formats numbers for people, and makes texts of unknown origin safe to print.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use pgndex::query::cut;

pub(crate) use pgndex::query::brief;

/// The maximum number of characters per line of a message. It is so large that paths are not cut off.
const LINE: usize = 5000;

/// Whether a character changes the direction of writing (Unicode's `Bidi_Control`).
const fn turns_direction(letter: char) -> bool {
    matches!(
        letter,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// The replacement for a character that would move the cursor, colour the terminal or change the direction of
/// writing; other characters are unchanged.
fn visible(letter: char) -> char {
    match letter {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + letter as u32).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' => char::REPLACEMENT_CHARACTER,
        _ if turns_direction(letter) => char::REPLACEMENT_CHARACTER,
        _ => letter,
    }
}

/// Makes control characters of a text visible. Names and other texts come from files of unknown origin.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(visible).collect()
}

/// Makes control characters of a text of several lines visible, except line ends and tabs.
pub(crate) fn printable_lines(text: &str) -> String {
    text.chars().map(|letter| if matches!(letter, '\n' | '\t') { letter } else { visible(letter) }).collect()
}

/// JSON with escaped control characters, including those that some programs read as line ends. Escaping the
/// whole text is possible, because valid JSON has such characters only in strings.
pub(crate) fn escaped_json(json: &str) -> Cow<'_, str> {
    let is_escaped = |letter: char| {
        matches!(letter, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}') || turns_direction(letter)
    };
    if !json.contains(is_escaped) {
        return json.into();
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for letter in json.chars() {
        if is_escaped(letter) {
            // Writing to a String never fails.
            let _ = write!(escaped, "\\u{:04x}", u32::from(letter));
        } else {
            escaped.push(letter);
        }
    }
    escaped.into()
}

/// A message of one or several lines for printing. Control characters are made visible, and long lines are
/// cut off.
pub(crate) fn sanitized(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(bounded).collect();
    printable_lines(&lines.join("\n"))
}

/// A line, cut off if it is too long for a message.
pub(crate) fn bounded(line: &str) -> Cow<'_, str> {
    cut(line, LINE)
}

/// A number with commas between groups of three digits: `3,372,442`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its noun, in the plural unless the number is 1: `1 game`, `40,000 games`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = match noun {
        "ply" => "plies".to_owned(),
        "hash" => "hashes".to_owned(),
        _ => format!("{noun}s"),
    };
    format!("{} {}", grouped(number), if number == 1 { noun } else { &plural })
}

/// The end of a message: how to show all hits or rows or, with an offset, all that follow. Empty if no more exist than
/// are shown.
pub(crate) const fn all_hint(is_more: bool, offset: u32) -> &'static str {
    match (is_more, offset) {
        (false, _) => "",
        (true, 0) => "; --limit 0 shows all",
        (true, _) => "; --limit 0 shows all that follow",
    }
}

/// A number with about three digits: `812`, `41.3 k`, `1.05 M`, `2.60 G`.
pub(crate) fn rough(number: f64) -> String {
    let number = if number.is_finite() { number.max(0.0) } else { 0.0 };
    if number < 9_999.5 {
        grouped(number.round() as u64)
    } else {
        with_unit(number, 1000.0, ["", " k", " M", " G", " T"])
    }
}

/// A number of bytes in binary units: `812 B`, `41.3 KiB`, `1.05 GiB`.
pub(crate) fn bytes(number: u64) -> String {
    with_unit(number as f64, 1024.0, [" B", " KiB", " MiB", " GiB", " TiB"])
}

/// The size of a database, its earlier size if this was different, and how much of the file is unused, as
/// text.
pub(crate) fn database_size(database: &Path, before: u64, file_bytes: u64, free_bytes: u64) -> String {
    let before = match before == file_bytes {
        true => String::new(),
        false => format!(" ({} before)", bytes(before)),
    };
    let database = printable(&database.to_string_lossy());
    format!("{database}: {}{before}, {} of it free", bytes(file_bytes), bytes(free_bytes))
}

fn with_unit(mut number: f64, base: f64, units: [&str; 5]) -> String {
    let mut unit = 0;
    // 999.5 would be rounded to four digits.
    while number >= 999.5 && unit + 1 < units.len() {
        number /= base;
        unit += 1;
    }
    let decimals = match number {
        _ if unit == 0 => 0,
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{number:.decimals$}{}", units[unit])
}

/// A share of a whole in percent: `38.4 %`.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    format!("{:.1} %", part as f64 * 100.0 / whole.max(1) as f64)
}

/// A span of time: `0.03 s`, `3.2 s`, `1 min 05 s`, `2 h 07 min`.
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let whole = seconds.round() as u64;
    match seconds {
        ..0.0995 => format!("{seconds:.2} s"),
        ..59.95 => format!("{seconds:.1} s"),
        ..3599.5 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// A word for a shell, in quotes if necessary. Characters that are not printable are replaced.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-".contains(letter);
    match printable(word) {
        word if !word.is_empty() && word.chars().all(is_plain) => word,
        word if word.contains(['"', '$', '`', '\\', '!']) => format!("'{}'", word.replace('\'', "'\\''")),
        word => format!("\"{word}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_made_visible() {
        assert_eq!(printable("a\u{1b}[2Jb\nc\u{7f}\u{9b}\u{202e}\u{61c}"), "a␛[2Jb␊c␡���");
        assert_eq!(printable_lines("a\n\tb\r\u{1b}\n"), "a\n\tb␍␛\n");
    }

    #[test]
    fn escaped_json_has_the_same_values() {
        let texts = ["plain \"é\" 棋", "\u{1b}[2J\u{7f}\u{9b}\u{202e}\u{2028}\u{200f}\u{2069}x"];
        let json = serde_json::to_string(&texts).unwrap();
        let escaped = escaped_json(&json);
        assert_eq!(serde_json::from_str::<Vec<String>>(&escaped).unwrap(), texts);
        assert!(!printable(&escaped).contains(['␡', char::REPLACEMENT_CHARACTER]), "{escaped}");
        assert!(matches!(escaped_json("[\"é\"]"), Cow::Borrowed(_)));
    }

    #[test]
    fn long_values_are_cut() {
        assert_eq!(brief(&"é".repeat(200)), "é".repeat(200));
        assert_eq!(brief(&"é".repeat(201)), "é".repeat(200) + "…");
        assert_eq!(
            sanitized(&format!("a\u{1b}\n{}", "b".repeat(9000))),
            format!("a␛\n{}…", "b".repeat(5000))
        );
    }

    #[test]
    fn numbers_have_commas() {
        let texts = [0, 7, 999, 1000, 40_000, 3_372_442, u64::MAX].map(grouped);
        assert_eq!(texts, ["0", "7", "999", "1,000", "40,000", "3,372,442", "18,446,744,073,709,551,615"]);
        assert_eq!(
            [counted(1, "ply"), counted(2, "ply"), counted(0, "game")],
            ["1 ply", "2 plies", "0 games"]
        );
    }

    #[test]
    fn rough_numbers_have_about_three_digits() {
        let numbers = [0.0, 812.4, 9_999.0, 41_300.0, 999_600.0, 1_053_888.0, 2.6e9, f64::NAN, f64::INFINITY];
        let texts = numbers.map(rough);
        assert_eq!(texts, ["0", "812", "9,999", "41.3 k", "1.00 M", "1.05 M", "2.60 G", "0", "0"]);
    }

    #[test]
    fn bytes_are_in_binary_units() {
        let texts = [0, 999, 1000, 1024, 42_300, 327_155_712, 3 << 30, u64::MAX].map(bytes);
        assert_eq!(
            texts,
            ["0 B", "999 B", "0.98 KiB", "1.00 KiB", "41.3 KiB", "312 MiB", "3.00 GiB", "16777216 TiB"]
        );
    }

    #[test]
    fn the_precision_of_durations_depends_on_their_length() {
        let texts = [0.0, 0.034, 0.1, 3.24, 59.94, 59.96, 65.0, 3599.6, 7625.0]
            .map(|seconds| duration(Duration::from_secs_f64(seconds)));
        assert_eq!(
            texts,
            [
                "0.00 s",
                "0.03 s",
                "0.1 s",
                "3.2 s",
                "59.9 s",
                "1 min 00 s",
                "1 min 05 s",
                "1 h 00 min",
                "2 h 07 min"
            ]
        );
    }
}
