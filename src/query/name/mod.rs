//! Names of players: aliases, suggestions of aliases, and similar names.

mod aliases;
mod phonetic;
mod similar_names;
mod similar_players;
mod suggest;

pub use aliases::{AliasError, Aliases, choose_name};
pub use similar_names::{OtherField, SimilarNames, similar_names};
pub use similar_players::{MatchingPlayer, SeveralPlayers, SimilarPlayer, several_players, similar_players};
pub use suggest::{LeftOut, Reason, SpellingGames, SuggestedAlias, SuggestedAliases, suggest_aliases};
