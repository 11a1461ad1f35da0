//! Names in filters that nothing bears, and what may have been meant.

use pgndex::store::{Database, Named, Selection, UnknownName, fold};

use super::note;
use super::text::printable;

/// How many names are suggested.
const SUGGESTED: usize = 3;
/// Up to here names are compared, a microsecond or so each.
const COMPARED: usize = 1_000_000;

/// Tells of names that nothing bears, and of those that are like them.
///
/// # Errors
/// What SQLite says.
pub(super) fn explain_names(database: &Database, selection: &Selection) -> anyhow::Result<()> {
    for unknown in selection.unknown_names() {
        let of = match unknown.named {
            Named::Player => "player",
            Named::Event => "event",
        };
        let near: Vec<_> =
            near(database, unknown)?.iter().map(|name| format!("\"{}\"", printable(name))).collect();
        let hint = match near.split_last() {
            None => String::new(),
            Some((last, [])) => format!("; did you mean {last}?"),
            Some((last, others)) => format!("; did you mean {} or {last}?", others.join(", ")),
        };
        note(&format!("no {of} has a name that fits --{}{hint}", unknown.field));
    }
    Ok(())
}

/// The names that are most like an unknown one, the nearest first, then those that came first into the database.
fn near(database: &Database, unknown: &UnknownName) -> anyhow::Result<Vec<String>> {
    let wanted = Wanted::new(unknown.filter.text());
    let mut nearest: Vec<(usize, String)> = Vec::new();
    let mut left = COMPARED;
    database.visit_names(unknown.named, |name| {
        if let Some(distance) = wanted.distance(name) {
            let at = nearest.partition_point(|(other, _)| *other <= distance);
            if at < SUGGESTED {
                nearest.insert(at, (distance, name.to_owned()));
                nearest.truncate(SUGGESTED);
            }
        }
        left -= 1;
        left > 0
    })?;
    Ok(nearest.into_iter().map(|(_, name)| name).collect())
}

/// The words of an unknown name.
struct Wanted {
    /// As they were typed and, if there are several, the last one first: surnames come first in most files.
    orders: Vec<String>,
    words: usize,
    last_length: usize,
    /// How many letters may be wrong.
    most: usize,
}

impl Wanted {
    fn new(name: &str) -> Self {
        let name = fold(name);
        let words: Vec<_> = words(&name).collect();
        let typed = words.join(" ");
        let most = (typed.chars().count() / 3).max(1);
        let turned = match words.split_last() {
            Some((last, others @ [_, ..])) => Some(format!("{last} {}", others.join(" "))),
            _ => None,
        };
        Self {
            most,
            orders: [Some(typed), turned].into_iter().flatten().collect(),
            // A name without a letter is like no other.
            words: if words.is_empty() { usize::MAX } else { words.len() },
            last_length: words.last().map_or(0, |word| word.chars().count()),
        }
    }

    /// How many letters must be changed to make some words of a name, the last of which may be longer, those that are wanted;
    /// `None` if they are too many.
    fn distance(&self, name: &str) -> Option<usize> {
        let name = fold(name);
        let words: Vec<_> = words(&name).collect();
        let mut least = None;
        for run in words.windows(self.words) {
            let whole = run.join(" ");
            let beyond =
                run[self.words - 1].chars().skip(self.last_length).map(char::len_utf8).sum::<usize>();
            let beginning = &whole[..whole.len() - beyond];
            for run in [beginning, &whole] {
                for wanted in &self.orders {
                    let most = least.unwrap_or(self.most);
                    if run.chars().count().abs_diff(wanted.chars().count()) <= most {
                        let distance = strsim::osa_distance(run, wanted);
                        least = Some(distance).filter(|distance| *distance <= most).or(least);
                    }
                }
            }
        }
        least
    }
}

/// The words of a folded name.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_like_others_in_most_of_their_letters() {
        let distance = |wanted: &str, name: &str| Wanted::new(wanted).distance(name);
        for (wanted, name, expected) in [
            ("Carlson", "Carlsen, Magnus", Some(1)),
            ("Carlson, M", "Carlsen, Magnus", Some(1)),
            ("Magnus Carlsen", "Carlsen, Magnus", Some(0)),
            ("magnsu", "Carlsen, Magnus", Some(1)),
            ("Mueller", "Müller, Karsten", Some(1)),
            ("Kasparow", "Kasparov, Garry", Some(1)),
            ("Tal", "Taimanov, Mark E", Some(1)),
            ("Carlson", "Kasparov, Garry", None),
            ("Carlsen, Magnus", "Carlsen", None),
            ("?", "Carlsen", None),
            ("Li", "", None),
        ] {
            assert_eq!(distance(wanted, name), expected, "{wanted}: {name}");
        }
    }
}
