//! Players: their names, their other spellings, their games.

pub(crate) mod alias;
mod ending;
pub(crate) mod games;
mod matcher;
pub(crate) mod name;
pub(crate) mod record;
