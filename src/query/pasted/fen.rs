//! FENs as people paste them: in quotes, as a tag pair, from the address of a board, with EPD operations behind.

use std::borrow::Cow;

/// What ends a FEN in a text around it: quotes, brackets, and what follows it in an address.
const ENDS: [char; 18] =
    ['"', '\'', '`', '“', '”', '„', '‘', '’', '«', '»', ']', ')', '>', '|', '#', '?', '&', '\n'];

/// The FEN in a pasted text, as it is read; the text itself if no placement of eight full ranks stands in it.
pub(in crate::query) fn pasted_fen(text: &str) -> Cow<'_, str> {
    let decoded = percent_decoded(text);
    let Some((placement, behind)) = find_placement(&decoded) else { return Cow::Borrowed(text) };
    let fields = behind.split(ENDS).next().unwrap_or_default();
    // Addresses have '_' or '+' where blanks were.
    let words: Vec<&str> =
        fields.split([' ', '\t', '_', '+', '\r']).filter(|word| !word.is_empty()).collect();
    let mut fen = placement.to_owned();
    for (index, word) in words.iter().enumerate() {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        if index >= 3 && !is_number && behind.contains(';') {
            // The operations of EPD.
            break;
        }
        fen.push(' ');
        fen.push_str(match *word {
            side if index == 0 && side.eq_ignore_ascii_case("white") => "w",
            side if index == 0 && side.eq_ignore_ascii_case("black") => "b",
            "–" | "—" | "−" => "-",
            word => word.trim_end_matches([';', ',']),
        });
    }
    Cow::Owned(fen)
}

/// The variant with rules of its own of whose board at Lichess a text is the address.
pub(in crate::query) fn variant_of_address(text: &str) -> Option<String> {
    const VARIANTS: [&str; 7] =
        ["antichess", "atomic", "crazyhouse", "horde", "kingOfTheHill", "racingKings", "threeCheck"];
    let (_, path) = text.split_once("lichess.org/")?;
    let is_one = |part: &&str| VARIANTS.iter().any(|name| name.eq_ignore_ascii_case(part));
    path.split('/').find(is_one).map(str::to_owned)
}

/// The first placement in a text, and what stands behind it.
fn find_placement(text: &str) -> Option<(&str, &str)> {
    let starts = text.char_indices().filter(|&(at, _)| !text[..at].ends_with(is_of_rank));
    starts.map(|(at, _)| &text[at..]).find_map(|rest| {
        let end = placement_length(rest)?;
        let (placement, behind) = rest.split_at(end);
        Some((placement, behind.strip_prefix('/').unwrap_or(behind)))
    })
}

/// The length of the placement with which a text begins: eight ranks of eight squares.
fn placement_length(text: &str) -> Option<usize> {
    let mut at = 0;
    for rank in 0..8 {
        if rank > 0 {
            text[at..].strip_prefix('/')?;
            at += 1;
        }
        let length = text[at..].find(|letter| !is_of_rank(letter)).unwrap_or(text.len() - at);
        let squares: u32 = text[at..at + length].chars().map(|letter| letter.to_digit(10).unwrap_or(1)).sum();
        if squares != 8 {
            return None;
        }
        at += length;
    }
    Some(at)
}

fn is_of_rank(letter: char) -> bool {
    "pnbrqkPNBRQK12345678".contains(letter)
}

/// A text with `%20` and the like of addresses as what they stand for, if all of these are ASCII.
fn percent_decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split('%');
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let byte = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.filter(u8::is_ascii) {
            Some(byte) => {
                decoded.push(char::from(byte));
                decoded.push_str(&part[2..]);
            }
            None => return Cow::Borrowed(text),
        }
    }
    Cow::Owned(decoded)
}
