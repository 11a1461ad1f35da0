//! HTML character references.

/// The character with this name, if it occurs in moves, results or quotes.
fn named(name: &[u8]) -> Option<char> {
    Some(match name {
        b"excl" => '!',
        b"quest" => '?',
        b"quot" => '"',
        b"apos" => '\'',
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        b"nbsp" | b"ensp" | b"emsp" | b"thinsp" => ' ',
        b"num" => '#',
        b"plus" => '+',
        b"equals" => '=',
        b"minus" | b"hyphen" | b"dash" => '-',
        b"ndash" => '\u{2013}',
        b"mdash" => '\u{2014}',
        b"hellip" => '\u{2026}',
        b"period" => '.',
        b"comma" => ',',
        b"sol" => '/',
        b"ast" | b"midast" => '*',
        b"frac12" | b"half" => '\u{bd}',
        _ => return None,
    })
}

/// The character that `text` begins with, written as `&name;`, `&#33;` or `&#x21;`, and the length of this
/// reference in bytes. An unknown name gives the replacement character.
#[must_use]
pub(super) fn entity(text: &[u8]) -> Option<(char, usize)> {
    const LONGEST: usize = 12;
    let rest = text.strip_prefix(b"&")?;
    let length = rest.iter().take(LONGEST).position(|&byte| byte == b';')?;
    let name = &rest[..length];
    let is_name = |name: &[u8]| !name.is_empty() && name.iter().all(u8::is_ascii_alphanumeric);
    let number = |digits: &[u8], radix| {
        let digits = std::str::from_utf8(digits).ok().filter(|digits| is_name(digits.as_bytes()))?;
        u32::from_str_radix(digits, radix).ok().and_then(char::from_u32)
    };
    let letter = match name {
        [b'#', b'x' | b'X', digits @ ..] => number(digits, 16)?,
        [b'#', digits @ ..] => number(digits, 10)?,
        name if !is_name(name) => return None,
        name => named(name).unwrap_or(char::REPLACEMENT_CHARACTER),
    };
    Some((letter, length + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_read_by_name_and_number() {
        for (text, found) in [
            ("&excl; Nc6", Some(('!', 6))),
            ("&#33;", Some(('!', 5))),
            ("&#x3f;&#33;", Some(('?', 6))),
            ("&frac12;-", Some(('\u{bd}', 8))),
            ("&unknown;", Some((char::REPLACEMENT_CHARACTER, 9))),
            ("& e4; e5", None),
            ("&;", None),
            ("&#;", None),
            ("&excl", None),
            ("excl;", None),
            ("&averylongnameindeed;", None),
        ] {
            assert_eq!(entity(text.as_bytes()), found, "{text}");
        }
    }
}
