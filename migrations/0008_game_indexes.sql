-- The pgndex database, version 8: in the indexes of `game`, the rows of new games stand together.

-- By blocks of games: what is added changes the last block of each index and leaves the others as they are. SQLite finds a value in all
-- blocks by itself (`WHERE white_id = 7`), as `sqlite_stat1` says that there are few of them. Blocks of hashes are larger ones, as new
-- games are looked up in each of them.
DROP INDEX IF EXISTS game_white;
DROP INDEX IF EXISTS game_black;
DROP INDEX IF EXISTS game_event;
DROP INDEX IF EXISTS game_date;
DROP INDEX IF EXISTS game_eco;
DROP INDEX IF EXISTS game_opening;
DROP INDEX IF EXISTS game_moves_hash;
DROP INDEX IF EXISTS game_prefix_hash;
CREATE INDEX game_white ON game (game_id >> 16, white_id);
CREATE INDEX game_black ON game (game_id >> 16, black_id);
CREATE INDEX game_event ON game (game_id >> 16, event_id);
CREATE INDEX game_date ON game (game_id >> 16, date);
CREATE INDEX game_eco ON game (game_id >> 16, eco);
CREATE INDEX game_opening ON game (game_id >> 16, opening_id);
CREATE INDEX game_moves_hash ON game (game_id >> 18, moves_hash, white_id);
CREATE INDEX game_prefix_hash ON game (game_id >> 18, prefix_hash);
