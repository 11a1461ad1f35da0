//! Notes on names in filters that nothing bears.

use pgndex::query::NearNames;
use pgndex::store::Named;

use crate::cli::note;
use crate::cli::render::text::printable;

/// Tells of names that nothing bears, and of those that are like them.
pub(super) fn tell_unknown_names(unknown: &[NearNames]) {
    for NearNames { field, named, near } in unknown {
        let of = match named {
            Named::Player => "player",
            Named::Event => "event",
        };
        let near: Vec<_> = near.iter().map(|name| format!("\"{}\"", printable(name))).collect();
        let hint = match near.split_last() {
            None => String::new(),
            Some((last, [])) => format!("; did you mean {last}?"),
            Some((last, others)) => format!("; did you mean {} or {last}?", others.join(", ")),
        };
        note(&format!("no {of} has a name that fits --{field}{hint}"));
    }
}
