//! Stores the moves of all games in a temporary file until their positions are written.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::game::{Games, game_id};
use super::output::{Output, WriteOptions};
use crate::board::{FenText, MoveCode, Position};
use crate::id::{GameId, Ply};
use crate::positioned_io::write_at;
use crate::store::{Error, Result};

/// Games as consecutive bytes: each with its id, its start position and its move codes.
#[derive(Debug, Default)]
pub(crate) struct EncodedMoves(Vec<u8>);

impl EncodedMoves {
    /// The number of bytes before the start position: the id, the length of the FEN, and the number of moves.
    const HEADER: usize = 12;

    /// Adds a game. `setup` is its start position; `None` is the standard one.
    pub(crate) fn push(&mut self, game: GameId, setup: Option<&Position>, codes: &[MoveCode]) {
        let fen = setup.map(Position::fen).unwrap_or_default();
        let numbers = [game.0, fen.len() as u32, codes.len() as u32];
        self.0.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        self.0.extend(fen.as_bytes());
        self.0.extend(codes.iter().flat_map(|code| code.bits().to_le_bytes()));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The moves of all games, in a temporary file.
#[derive(Debug)]
pub(super) struct MoveFile {
    directory: PathBuf,
    /// The file has no name, so the system removes it when it is closed.
    file: File,
    bytes: u64,
    /// For each game id, 1 plus the offset of the game in the file; 0 if the file does not contain the game.
    places: Vec<u64>,
}

/// One game with its moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moves<'m> {
    pub(super) game: GameId,
    fen: &'m [u8],
    codes: &'m [u8],
}

impl MoveFile {
    pub(super) fn create(directory: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(directory).map_err(|source| failed(directory, source))?;
        Ok(Self { directory: directory.to_owned(), file, bytes: 0, places: Vec::new() })
    }

    pub(super) fn append(&mut self, EncodedMoves(bytes): &EncodedMoves) -> Result<()> {
        write_at(&self.file, bytes, self.bytes).map_err(|source| failed(&self.directory, source))?;
        let mut rest = &bytes[..];
        while let Some((moves, length)) = Moves::read(rest) {
            let index = moves.game.0 as usize;
            if self.places.len() <= index {
                self.places.resize(index + 1, 0);
            }
            self.places[index] = self.bytes + (bytes.len() - rest.len()) as u64 + 1;
            rest = &rest[length..];
        }
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Ends writing, and maps the file for reading.
    #[allow(unsafe_code)]
    pub(super) fn read(self) -> Result<MoveReader> {
        // SAFETY: the file has no name, so no other program opens it. All writes to it are complete.
        let bytes = unsafe { Mmap::map(&self.file) }.map_err(|source| failed(&self.directory, source))?;
        Ok(MoveReader { bytes, places: self.places })
    }
}

fn failed(directory: &Path, source: io::Error) -> Error {
    Error::io(directory, "use a temporary file there", source)
}

/// All games, and where and how to write their positions.
pub(super) struct AllGames<'g> {
    pub(super) output: &'g Output,
    pub(super) options: &'g WriteOptions,
    pub(super) games: &'g Games,
    pub(super) moves: &'g MoveReader,
    pub(super) is_stopped: &'g (dyn Fn() -> bool + Sync),
}

impl AllGames<'_> {
    /// The id of a game, which is unique across all shards.
    pub(super) fn id(&self, game: GameId) -> i64 {
        game_id(self.output.shard, game)
    }

    pub(super) fn check_stop(&self) -> Result<()> {
        if (self.is_stopped)() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// The moves of all games, after the last game was added.
#[derive(Debug)]
pub(super) struct MoveReader {
    pub(super) bytes: Mmap,
    places: Vec<u64>,
}

impl MoveReader {
    /// All games in the file, in the order of their ids.
    pub(super) fn games(&self) -> impl Iterator<Item = GameId> {
        (0..).zip(&self.places).filter(|(_, place)| **place > 0).map(|(id, _)| GameId(id))
    }

    /// The moves of a game that is in the file.
    pub(super) fn of(&self, game: GameId) -> Moves<'_> {
        let place = self.places[game.0 as usize] - 1;
        let bytes = usize::try_from(place).ok().and_then(|place| self.bytes.get(place..));
        bytes.and_then(Moves::read).expect("the game was written at this offset").0
    }
}

impl<'m> Moves<'m> {
    /// Reads a game. Also returns its length in bytes.
    fn read(bytes: &'m [u8]) -> Option<(Self, usize)> {
        let (header, rest) = bytes.split_at_checked(EncodedMoves::HEADER)?;
        let number = |index: usize| u32::from_le_bytes(*header.as_chunks().0.get(index).expect("three"));
        let (fen, rest) = rest.split_at_checked(number(1) as usize)?;
        let codes = rest.get(..4 * number(2) as usize)?;
        Some((Self { game: GameId(number(0)), fen, codes }, EncodedMoves::HEADER + fen.len() + codes.len()))
    }

    /// The number of the game's positions.
    pub(super) const fn positions(self) -> usize {
        self.codes.len() / 4 + 1
    }

    pub(super) const fn is_setup(self) -> bool {
        !self.fen.is_empty()
    }

    /// Calls `see` for each position, with the move played from it, which is `None` for the last position.
    /// `start` is the standard start position.
    #[inline]
    pub(super) fn replay(
        self,
        start: &(Position, FenText),
        mut see: impl FnMut(Ply, &Position, &FenText, Option<MoveCode>),
    ) {
        let (mut position, mut placement) = if self.is_setup() {
            let position = Position::from_fen(self.fen).expect("a position made this FEN").0;
            let placement = FenText::new(&position);
            (position, placement)
        } else {
            start.clone()
        };
        let (codes, _) = self.codes.as_chunks();
        let codes = codes.iter().map(|code| MoveCode::from_stored(u32::from_le_bytes(*code)));
        for (ply, code) in (0..).zip(codes.map(Some).chain([None])) {
            see(Ply(ply), &position, &placement, code);
            if let Some(code) = code {
                position.replay(code);
                placement.update(&position, code);
            }
        }
    }

    /// The canonical FEN of the position at a ply.
    pub(super) fn fen_at(self, ply: Ply, start: &(Position, FenText)) -> String {
        let mut fen = String::new();
        self.replay(start, |at, position, _, _| {
            if at == ply {
                fen = position.canonical_fen();
            }
        });
        fen
    }
}
