//! Names and their ids.

use std::collections::HashMap;

use crate::store::row::NameId;

/// Gives each distinct name a number, 1, 2, 3 … in order of first appearance.
#[derive(Debug, Default)]
pub(super) struct Names {
    ids: HashMap<Box<str>, NameId>,
}

impl Names {
    /// The id of a name, and whether the name is new.
    pub(super) fn intern(&mut self, name: &str) -> (NameId, bool) {
        if let Some(&id) = self.ids.get(name) {
            return (id, false);
        }
        let id = NameId(u32::try_from(self.ids.len() + 1).expect("at most four names a game"));
        self.ids.insert(name.into(), id);
        (id, true)
    }
}
