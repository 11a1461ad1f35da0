//! Splits SQL into words.

/// The words of a statement, without comments: names, numbers and quoted texts; each other character is a
/// word of its own. Except that `a.b` is one word, a word must end where SQLite's tokenizer ends it.
/// Otherwise a statement could hide names from checks that count names.
pub(crate) fn words(sql: &str) -> Vec<&str> {
    // To SQLite, a byte order mark is a space at the start of a word, and a letter inside a word.
    let space = |letter: char| letter.is_ascii_whitespace() || letter == '\u{feff}';
    let (mut words, mut rest) = (Vec::new(), sql.trim_start_matches(space));
    while let Some(letter) = rest.chars().next() {
        let length = match letter {
            '\'' | '"' | '`' => quoted(rest, letter),
            '[' => rest.find(']').map_or(rest.len(), |end| end + 1),
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            _ if is_of_name(letter) => rest.find(|letter| !is_of_name(letter)).unwrap_or(rest.len()),
            _ => letter.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        if !word.starts_with("--") && !word.starts_with("/*") {
            words.push(word);
        }
        rest = after.trim_start_matches(space);
    }
    words
}

/// The length of the quoted text at the start. A doubled quote is an escaped quote.
fn quoted(text: &str, quote: char) -> usize {
    let mut length = 1;
    while let Some(end) = text[length..].find(quote) {
        length += end + 1;
        if !text[length..].starts_with(quote) {
            return length;
        }
        length += 1;
    }
    text.len()
}

/// Whether a character can be part of a name without quotes.
pub(crate) fn is_of_name(letter: char) -> bool {
    !letter.is_ascii() || letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$' | '.')
}
