//! What the browser gets: files that are part of the program.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// A file of the page.
pub(super) struct Asset {
    /// Its name below `/page/`.
    pub(super) name: &'static str,
    pub(super) content_type: &'static str,
    pub(super) bytes: &'static [u8],
}

impl Asset {
    /// A text that tells it from what it was in another version of the program.
    pub(super) fn tag(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.bytes.hash(&mut hasher);
        format!("\"{:016x}\"", hasher.finish())
    }
}

macro_rules! assets {
    ($($name:literal),* $(,)?) => {
        &[$(Asset { name: $name, content_type: content_type($name), bytes: include_bytes!(concat!("page/", $name)) }),*]
    };
}

const ASSETS: &[Asset] = assets!["index.html", "app.css", "app.js"];

/// The file with a name.
pub(super) fn asset(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

/// The file that all views of the page begin with.
pub(super) const INDEX: &str = "index.html";

const fn content_type(name: &str) -> &'static str {
    let name = name.as_bytes();
    match name {
        [.., b'h', b't', b'm', b'l'] => "text/html; charset=utf-8",
        [.., b'c', b's', b's'] => "text/css; charset=utf-8",
        [.., b'.', b'j', b's'] => "text/javascript; charset=utf-8",
        [.., b's', b'v', b'g'] => "image/svg+xml",
        _ => "application/octet-stream",
    }
}
