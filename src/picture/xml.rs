//! Text in XML.

/// Escapes a text for XML or HTML, outside attributes: `&`, `<` and `>` become entities, and U+FFFD replaces
/// U+FFFE, U+FFFF and all control characters but tab and line feed.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '\n' | '\t' => escaped.push(letter),
            '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(letter),
        }
    }
    escaped
}
