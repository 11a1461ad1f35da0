//! Players: their names, their other spellings, their games.

pub(crate) mod games;
pub(crate) mod matcher;
pub(crate) mod name;
