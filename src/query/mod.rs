//! Queries on a database. Most answers are data, not text. This module defines the meaning, the length and
//! the order of an answer, and finds the reason if an answer is empty.
//!
//! | to … | use |
//! |---|---|
//! | parse a position | [`PositionQuery`] |
//! | answer clients of Lichess's explorer | [`ExplorerAnswer`] |
//! | describe a position and its legal moves for a board | [`DescribedPosition`] |
//! | count the moves played from a position | [`ExploreQuery`] |
//! | find games, or the games that reached a position | [`FindQuery`] |
//! | describe positions that follow one another in a game | [`PositionSequence`] |
//! | read games by number | [`visit_games`], [`GameAnswer`] |
//! | find the first new move of a game | [`novelty`] |
//! | summarize a database | [`DatabaseContents`] |
//! | choose games, and their positions | [`choose_games`], [`WantedPositions`], [`Sample`] |
//! | replay a stored game, or write it as PGN | [`replay`], [`write_pgn`] |
//! | suggest similar names for a name that does not occur | [`similar_names`] |
//! | find the filters without which some games would pass | [`without_one_filter`] |
//! | find players with a similar name and many more games | [`similar_players`] |
//! | find the names in filters that match several players | [`several_players`] |
//! | list the players | [`PlayersQuery`] |
//! | show a player's record | [`PlayerQuery`] |
//! | compare a repertoire with the games | [`RepertoireQuery`] |
//! | merge several names into one player | [`Aliases`] |
//! | show statistics, openings, names, problems | [`Statistics`], [`OpeningList`], [`find_names`], [`FoundProblems`] |
//! | run a user's SQL query | [`SqlRows`] |
//! | find positions with the same placement | [`variants`] |
//!
//! `docs/json.md` describes the answers as JSON. All callers use the same answers. Each caller formats them
//! for people in its own way.

mod error;
mod explore;
mod explorer;
mod export;
mod filtered_out;
mod find;
mod game;
mod name;
mod pasted;
mod performance;
mod pgn;
mod player;
mod players;
mod position;
mod repertoire;
mod sample;
mod sequence;
mod survey;

pub use crate::store::{FoundProblem, GameCounts};
pub use error::{DamagedGame, Error, Result, brief, cut};
pub use explore::{
    ExploreAnswer, ExploreQuery, GameEntry, HistoryMonth, HistoryMove, HistoryYear, ListedGame,
    MoveStatistics, MoveTree, Player, PositionStatistics, SideScore, TreeMove, Winner,
};
pub use explorer::{
    ExplorerAnswer, ExplorerGame, ExplorerListedGame, ExplorerMove, ExplorerPlayer, game_code, game_of_code,
};
pub use export::{
    Choice, GameFields, PositionFields, PositionFormat, Positions, WantedPositions, choose_games,
    write_positions,
};
pub use filtered_out::{
    AlternativeValues, CountedGames, WithoutFilter, alternative_values, filters_given, is_one_player_twice,
    without_one_filter,
};
pub use find::{
    AllHits, Difference, FindQuery, FindTarget, FoundPosition, LineMatch, NoHits, Shown, Total, Variant,
    match_line, variants,
};
pub use game::{
    Command, GameAnswer, GamePly, GameVariation, NewMove, Novelty, Plies, PlyRemarks, ReplayStep, check_game,
    novelty, replay, visit_games,
};
pub use name::{
    AliasError, Aliases, LeftOut, MatchingPlayer, OtherField, Reason, SeveralPlayers, SimilarNames,
    SimilarPlayer, SpellingGames, SuggestedAlias, SuggestedAliases, choose_name, several_players,
    similar_names, similar_players, suggest_aliases,
};
pub use performance::Record;
pub use pgn::{variation_text, write_normalized_pgn, write_pgn};
pub use player::{
    EndingRecord, LineNode, OpeningRecord, OpponentRecord, PlayerGame, PlayerQuery, PlayerRecord,
    RatingRecord, SideRecord, SpeedRecord, YearRecord,
};
pub use players::{ListedPlayer, ListedPlayers, PlayerOrder, PlayersQuery, Spelling};
pub use position::{
    DescribedMove, DescribedPosition, LineMove, MovesNote, PositionError, PositionQuery, number_before,
    push_move,
};
pub use repertoire::{
    Book, BookProblem, Departure, FollowingGame, Repertoire, RepertoireError, RepertoireLine, RepertoireMove,
    RepertoireQuery, Score, TooLong,
};
pub use sample::{Draw, Sample};
pub use sequence::{PositionSequence, Step};
pub use survey::{
    DatabaseContents, FoundNames, FoundProblems, GamesByResult, LengthCount, LongestGame, OpeningList,
    OpeningShare, RatingCount, SqlLimits, SqlRows, Statistics, YearCount, find_names,
};
