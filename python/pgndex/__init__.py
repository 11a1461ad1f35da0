"""Tables of chess games directly from PGN, and queries of the databases that `pgndex index` makes.

Rows are Arrow streams: `polars.DataFrame(pgndex.positions("games.pgn"))`, `pandas.DataFrame.from_arrow(…)`, `pyarrow.table(…)`,
`duckdb.sql("FROM rows")`. They are built on all processors while they are read, in bounded memory, in the order of the games.

Keywords filter games, and are named like the options of the command line: `white`, `black`, `player`, `opponent`, `elo_min`,
`elo_max`, `since`, `until`, `result`, `event`, `site`, `opening`, `eco`, `opening_eco`, `speed`, `time_control`, `termination`,
`plies_min`, `plies_max`, `with_evals`, `variant`.
"""

from pgndex._database import Database
from pgndex._extension import load, loadable_path
from pgndex._index import Progress, index
from pgndex._pgndex import Batch, DatabaseError, Error, PgnError, QuestionError, Rows, __version__
from pgndex._position import Position
from pgndex._read import games, moves, positions, read_range, splits, table

__all__ = [
    "Batch",
    "Database",
    "DatabaseError",
    "Error",
    "PgnError",
    "Position",
    "Progress",
    "QuestionError",
    "Rows",
    "__version__",
    "games",
    "index",
    "load",
    "loadable_path",
    "moves",
    "positions",
    "read_range",
    "splits",
    "table",
]
