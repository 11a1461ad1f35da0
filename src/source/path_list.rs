//! Reads lists of paths. An argument `@FILE` names the file that contains a list.

use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::encoding::Transcoder;
use super::form::{Form, MARK};
use super::{Error, Result, SearchObserver};
use crate::channel::{self, bounded};
use crate::positioned_io::read_start;

const NOT_A_LIST: &str = "not a list of paths (one path per line)";

/// The text of a list, which has one path per line. `watch` can stop the search while a pipe is read.
pub(super) fn read_list(list: &Path, watch: &dyn SearchObserver) -> ControlFlow<(), Result<Vec<u8>>> {
    /// The maximum length of a list, in bytes. A list can be a pipe that never ends.
    const MOST: u64 = 64 << 20;
    let text = match read(list, MOST + 1, watch)? {
        Ok(text) if text.len() as u64 > MOST => {
            let reason = format!("longer than {} MiB; this is {NOT_A_LIST}", MOST >> 20);
            return ControlFlow::Continue(Err(wrong(list, reason)));
        }
        Ok(text) => utf_8(text),
        Err(error) => Err(error),
    };
    ControlFlow::Continue(text.map_err(|error| Error::io(list, error)).and_then(|text| check(list, text)))
}

/// The paths of a list, each with its line, from 1. Empty lines and lines that begin with `#` are skipped.
pub(super) fn listed_paths(text: &[u8]) -> impl Iterator<Item = (&[u8], u64)> {
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).zip(1..);
    lines.filter(|(line, _)| !line.is_empty() && !line.starts_with(b"#"))
}

/// Returns the text, or an error if it is not a list of paths.
fn check(list: &Path, text: Vec<u8>) -> Result<Vec<u8>> {
    /// The maximum length of a path, in bytes.
    const LONGEST: usize = 4096;
    if text.contains(&0) || Form::of(&text) != Form::Text {
        return Err(wrong(list, format!("binary data, {NOT_A_LIST}")));
    }
    if listed_paths(&text).any(|(line, _)| line.starts_with(b"[") && line.ends_with(b"\"]")) {
        return Err(wrong(list, format!("PGN, {NOT_A_LIST}; omit the @")));
    }
    if let Some((_, number)) = listed_paths(&text).find(|(line, _)| line.len() > LONGEST) {
        let reason = format!("line {number} is longer than {LONGEST} bytes; this is {NOT_A_LIST}");
        return Err(wrong(list, reason));
    }
    Ok(text)
}

fn wrong(list: &Path, reason: String) -> Error {
    Error::List { path: list.to_owned(), reason }
}

/// Reads at most `most` bytes of a file, which can be a pipe without a writer. A separate thread waits for
/// the writer, and continues to wait if `watch` stops the search.
fn read(path: &Path, most: u64, watch: &dyn SearchObserver) -> ControlFlow<(), io::Result<Vec<u8>>> {
    const PATIENCE: Duration = Duration::from_millis(50);
    let (sender, receiver) = bounded(1);
    let path = path.to_owned();
    let read = move || {
        let _ = sender.send(read_start(&path, most));
    };
    if let Err(error) = thread::Builder::new().name("list".into()).spawn(read) {
        return ControlFlow::Continue(Err(error));
    }
    loop {
        watch.looked_at(0, 0)?;
        match receiver.recv_timeout(PATIENCE) {
            Err(channel::Error::Timeout) => {}
            Ok(read) => return ControlFlow::Continue(read),
            Err(error) => return ControlFlow::Continue(Err(io::Error::other(error))),
        }
    }
}

/// Removes a text's byte order mark, and converts the text to UTF-8 if the mark is that of UTF-16.
fn utf_8(text: Vec<u8>) -> io::Result<Vec<u8>> {
    match Form::of(&text) {
        Form::Utf16(encoding) => {
            let mut utf_8 = Vec::new();
            Transcoder::new(text.as_slice(), encoding).read_to_end(&mut utf_8)?;
            Ok(utf_8)
        }
        _ if text.starts_with(MARK) => Ok(text[MARK.len()..].to_vec()),
        _ => Ok(text),
    }
}
