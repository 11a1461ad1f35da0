//! Makes foreign texts safe to print.

use std::borrow::Cow;
use std::fmt::Write as _;

pub(crate) use pgndex::query::brief;
use pgndex::query::cut;

/// The maximum number of characters per line of a message. It is so large that paths are quoted in full.
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

/// A text without control characters: names come from files that anybody may have written.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(visible).collect()
}

/// A text of several lines without control characters, except for line ends and tabs.
pub(crate) fn printable_lines(text: &str) -> String {
    text.chars().map(|letter| if matches!(letter, '\n' | '\t') { letter } else { visible(letter) }).collect()
}

/// JSON with escaped control characters, including those that some programs take for line ends. Such characters
/// occur only in the strings of JSON.
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

/// A text of blanks. A width in `format!` would not do: it must not be more than 65,535.
pub(crate) fn blanks(count: usize) -> String {
    " ".repeat(count)
}

/// A message of one or several lines for printing: without control characters, and of limited length.
pub(crate) fn sanitized(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(bounded).collect();
    printable_lines(&lines.join("\n"))
}

/// A line, cut off if it is too long for a message.
pub(crate) fn bounded(line: &str) -> Cow<'_, str> {
    cut(line, LINE)
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
}
