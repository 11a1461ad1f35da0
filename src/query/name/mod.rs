//! Names of players: aliases, suggestions of aliases, and similar names.

mod aliases;
mod phonetic;
mod similar;
mod suggest;

pub use aliases::{AliasError, Aliases, choose_name};
pub use similar::{
    MatchingPlayer, OtherField, SeveralPlayers, SimilarNames, SimilarPlayer, several_players, similar_names,
    similar_players,
};
pub use suggest::{LeftOut, Reason, SpellingGames, SuggestedAlias, SuggestedAliases, suggest_aliases};
