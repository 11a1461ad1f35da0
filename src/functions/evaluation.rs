//! SQL functions on evaluations.

use super::arguments::{Arguments, Problem};
use crate::pgn::winning_chances;

/// `winning_chances(cp)`, `winning_chances(cp, mate)`
pub(super) fn chances(arguments: &Arguments<'_, '_>) -> Result<Option<f64>, Problem> {
    let cp = arguments.number(0)?;
    let mate = if arguments.count() > 1 { arguments.number(1)? } else { None };
    Ok(match mate {
        // It is unknown which side is mated.
        Some(0.0) => None,
        // A mate counts as an infinite evaluation.
        Some(mate) => Some(winning_chances(f64::INFINITY.copysign(mate))),
        None => cp.map(winning_chances),
    })
}
