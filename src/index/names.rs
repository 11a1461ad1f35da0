//! Names and their ids.

use std::collections::HashMap;

use crate::store::row::NameId;

/// Gives each distinct name a number: 1, 2, 3 … in order of first appearance, or on from those of a database.
#[derive(Debug, Default)]
pub(super) struct Names {
    ids: HashMap<Box<str>, NameId>,
    last: u32,
}

impl Names {
    /// Goes on after the id `last`.
    pub(super) fn after(last: NameId) -> Self {
        Self { ids: HashMap::new(), last: last.0 }
    }

    /// The id of a name, if it has one here or `known` gives one.
    pub(super) fn find<E>(
        &mut self,
        name: &str,
        known: impl FnOnce(&str) -> Result<Option<NameId>, E>,
    ) -> Result<Option<NameId>, E> {
        if let Some(&id) = self.ids.get(name) {
            return Ok(Some(id));
        }
        let id = known(name)?;
        if let Some(id) = id {
            self.ids.insert(name.into(), id);
        }
        Ok(id)
    }

    /// The id of a name, and whether the name is new; `None` if it is and no number is left. A name met for the first time may have the id that `known` gives.
    pub(super) fn intern<E>(
        &mut self,
        name: &str,
        known: impl FnOnce(&str) -> Result<Option<NameId>, E>,
    ) -> Result<Option<(NameId, bool)>, E> {
        if let Some(id) = self.find(name, known)? {
            return Ok(Some((id, false)));
        }
        let Some(next) = self.last.checked_add(1) else { return Ok(None) };
        self.last = next;
        let id = NameId(next);
        self.ids.insert(name.into(), id);
        Ok(Some((id, true)))
    }
}
