//! The words of SQL.

/// The words of a statement, without comments: names, numbers and quoted texts, and other characters one by one.
pub(crate) fn words(sql: &str) -> Vec<&str> {
    let (mut words, mut rest) = (Vec::new(), sql.trim_start());
    while let Some(letter) = rest.chars().next() {
        let length = match letter {
            '\'' | '"' | '`' => rest[1..].find(letter).map_or(rest.len(), |end| end + 2),
            '[' => rest.find(']').map_or(rest.len(), |end| end + 1),
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ if is_of_name(letter) => rest.find(|letter| !is_of_name(letter)).unwrap_or(rest.len()),
            _ => letter.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        if !word.starts_with("--") && !word.starts_with("/*") {
            words.push(word);
        }
        rest = after.trim_start();
    }
    words
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '$' | '.')
}
