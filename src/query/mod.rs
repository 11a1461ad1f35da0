//! Questions to a database, and the answers as data: what a question means, its limits, its order, and why there is nothing.
//!
//! | to … | use |
//! |---|---|
//! | read the position that is asked for | [`PositionQuery`] |
//! | tell it to clients of Lichess's explorer | [`ExplorerAnswer`] |
//! | tell a board what can be played | [`DescribedPosition`] |
//! | tell what was played from a position | [`Explore`] |
//! | find the games that reached something | [`Find`] |
//! | describe positions, one after the other | [`Course`] |
//! | look at games by number | [`visit_games`], [`GameAnswer`] |
//! | tell which move of a game was new | [`novelty`] |
//! | tell what a database holds | [`Holdings`] |
//! | choose games, and positions of theirs | [`choose_games`], [`WantedPositions`], [`Sample`] |
//! | play a stored game through, write it as PGN | [`replay`], [`write_pgn`] |
//! | tell names that are like one that nothing bears | [`near_names`] |
//! | tell which filter keeps games out | [`without_one_filter`] |
//! | tell names of players that have many more games than one like them | [`near_players`] |
//! | tell which players one name of a filter fits | [`several_players`] |
//! | list the players | [`Players`] |
//! | tell a player's record | [`PlayerQuestion`] |
//! | hold a repertoire against the games | [`RepertoireQuestion`] |
//! | make several names those of one player | [`Aliases`] |
//! | tell games in figures, openings, names, what is wrong | [`Statistics`], [`OpeningList`], [`find_names`], [`FoundProblems`] |
//! | run a query of somebody else | [`SqlRows`] |
//! | tell positions with the same placement | [`variants`] |
//!
//! Answers serialise as `docs/json.md` says. Nothing here knows who asks: texts for people are made where they are shown.

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
