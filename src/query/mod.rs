//! Queries on a database, with answers as data: their meaning, limits, order, and the reason for empty
//! answers.
//!
//! | to … | use |
//! |---|---|
//! | parse a position | [`PositionQuery`] |
//! | answer clients of Lichess's explorer | [`ExplorerAnswer`] |
//! | describe a position and its legal moves for a board | [`DescribedPosition`] |
//! | count the moves played from a position | [`Explore`] |
//! | find the games that reached something | [`Find`] |
//! | describe positions, one after the other | [`Course`] |
//! | read games by number | [`visit_games`], [`GameAnswer`] |
//! | find the first new move of a game | [`novelty`] |
//! | summarize a database | [`Holdings`] |
//! | choose games, and their positions | [`choose_games`], [`WantedPositions`], [`Sample`] |
//! | replay a stored game, write it as PGN | [`replay`], [`write_pgn`] |
//! | suggest names for a name that does not occur | [`near_names`] |
//! | find the filter that excludes all games | [`without_one_filter`] |
//! | find similar names of players with many more games | [`near_players`] |
//! | find the players that a filter's name matches | [`several_players`] |
//! | list the players | [`Players`] |
//! | show a player's record | [`PlayerQuestion`] |
//! | compare a repertoire with the games | [`RepertoireQuestion`] |
//! | merge several names into one player | [`Aliases`] |
//! | show statistics, openings, names, problems | [`Statistics`], [`OpeningList`], [`find_names`], [`FoundProblems`] |
//! | run a user's SQL query | [`SqlRows`] |
//! | find positions with the same placement | [`variants`] |
//!
//! Answers serialise as described in `docs/json.md`. This module does not depend on who asks: callers write
//! the texts for people.

mod aliases;
mod course;
mod described;
mod error;
mod explore;
mod explorer;
mod export;
mod filtered_out;
mod find;
mod game;
mod info;
mod likeness;
mod names;
mod near_players;
mod novelty;
mod pasted;
mod performance;
mod pgn;
mod player;
mod players;
mod position;
mod repertoire;
mod replay;
mod suggest;
mod survey;
mod text;
mod variants;

pub use aliases::{AliasError, Aliases, choose_name};
pub use course::{Course, Step};
pub use described::{DescribedMove, DescribedPosition};
pub use error::{Error, Result};
pub use explore::{
    Explore, Explored, ExploredAll, ExploredGame, ExploredMove, ExploredTree, HistoryMonth, HistoryMove,
    HistoryYear, ListedGame, Player, SideScore, TreeMove, Winner,
};
pub use explorer::{
    ExplorerAnswer, ExplorerGame, ExplorerListedGame, ExplorerMove, ExplorerPlayer, game_code, game_of_code,
};
pub use export::{
    Choice, Draw, GameFields, PositionFields, PositionFormat, Positions, Sample, WantedPositions,
    choose_games, write_positions,
};
pub use filtered_out::{Instead, WithoutFilter, filters_given, instead_of_filter, without_one_filter};
pub use find::{AllHits, Find, FindTarget, Followed, FoundPosition, Nothing, Shown, Total, followed};
pub use game::{Command, GameAnswer, GamePly, GameVariation, Plies, PlyRemarks, visit_games};
pub use info::{GamesByResult, Holdings, LongestGame};
pub use names::{Elsewhere, NearNames, near_names};
pub use near_players::{FittingPlayer, NearPlayer, SeveralPlayers, near_players, several_players};
pub use novelty::{NewMove, Novelty, novelty};
pub use pasted::MovesNote;
pub use pgn::{variation_text, write_normalized_pgn, write_pgn};
pub use player::{
    EndingRecord, LineNode, OpeningRecord, OpponentRecord, PlayerGame, PlayerQuestion, PlayerRecord,
    RatingRecord, Record, SideRecord, SpeedRecord, YearRecord,
};
pub use players::{ListedPlayer, ListedPlayers, PlayerOrder, Players, Spelling};
pub use position::{LineMove, Place, PositionError, PositionQuery, number_before, push_move};
pub use repertoire::{
    Book, BookProblem, Departure, FollowingGame, Repertoire, RepertoireError, RepertoireLine, RepertoireMove,
    RepertoireQuestion, Score, TooLong,
};
pub use replay::{DamagedGame, replay};
pub use suggest::{LeftOut, Reason, SpellingGames, SuggestedAlias, SuggestedAliases, suggest_aliases};
pub use survey::{
    Counted, FoundNames, FoundProblem, FoundProblems, LengthCount, OpeningList, OpeningShare, RatingCount,
    SqlLimits, SqlRows, Statistics, YearCount, find_names,
};
pub use text::{brief, cut};
pub use variants::{Difference, Variant, variants};
