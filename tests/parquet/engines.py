"""Reads the Parquet files of pgndex with other engines, and compares counts, sums, FENs and look-ups with SQLite.

Usage: engines.py DIRECTORY DATABASE ENGINE... Engines are duckdb, clickhouse, polars, pyarrow and spark. The
database contains the games of the files. Prints a line for each engine: its version, the number of rows of
game_position, and the seconds.
"""

import importlib
import io
import random
import sqlite3
import sys
import time
import zlib

LOOK_UPS = 40
# The columns of each table that are summed up; keys are divided into two halves, so that no sum exceeds 64 bits.
NUMBERS = {
    "game_position": ["game_id", "ply", "halfmove_clock", "move_code"],
    "position_game": ["game_id", "ply", "move_code", "white_elo", "black_elo"],
    "continuation": ["move_code", "games", "white_wins", "draws", "black_wins", "white_elo_sum", "white_elo_games", "black_elo_sum", "black_elo_games"],
    "variation_move": ["game_id", "line", "ply", "halfmove_clock", "move_code"],
}
OF_SQLITE = {
    "position_game": "(SELECT p.*, white_elo, black_elo FROM game_position AS p JOIN game USING (game_id))",
}


def query(table, columns, high, low):
    """Counts and sums of a table. `high` and `low` are the halves of the key."""
    sums = [f"sum({column})" for column in columns]
    null = "count(*) - count(move_code), sum(CASE WHEN move_code = 0 THEN 1 ELSE 0 END)"
    return f"""SELECT count(*), sum({high}), sum({low}), sum(CASE WHEN key < 0 THEN 1 ELSE 0 END), {null}, {', '.join(sums)} FROM {table}"""


def fen_sum(rows):
    """A checksum over FENs and the positions to which they belong; it does not depend on the order of the rows."""
    return sum(zlib.crc32(b"%d %d %s" % (game, ply, fen.encode())) for game, ply, fen in rows)


def arrow_rows(batches):
    for batch in batches:
        yield from zip(*(column.to_pylist() for column in batch.columns))


class Sqlite:
    """The reference."""

    def __init__(self, database):
        self.database = sqlite3.connect(database)

    def sums(self, table, columns):
        sql = query(OF_SQLITE.get(table, table), columns, "key >> 32", "key & 4294967295")
        return tuple(value or 0 for value in self.database.execute(sql).fetchone())

    def fens(self):
        return fen_sum(self.database.execute("SELECT game_id, ply, fen FROM game_position"))

    def look_up(self, key):
        sql = """SELECT p.game_id, p.ply, p.move_code FROM position_game AS o JOIN game_position AS p USING (game_id, ply) WHERE o.key = ?"""
        return sorted(self.database.execute(sql, [key]).fetchall(), key=repr)

    def keys(self):
        """Some keys, half of them negative, and one that does not exist."""
        chosen = random.Random(7)
        keys = []
        for condition in ("< 0", ">= 0"):
            few = [row[0] for row in self.database.execute(f"SELECT DISTINCT key FROM game_position WHERE key {condition} LIMIT 20000")]
            keys += chosen.sample(few, LOOK_UPS // 2)
        start = self.database.execute("SELECT key FROM game_position WHERE ply = 3 GROUP BY key ORDER BY count(*) DESC LIMIT 2").fetchall()
        return keys + [row[0] for row in start] + [12345]


class DuckDb:
    module = "duckdb"

    def __init__(self, module, directory):
        self.engine, self.directory = module.connect(), directory

    def table(self, table):
        return f"read_parquet('{self.directory}/{table}/**/*.parquet', hive_partitioning = true)"

    def sums(self, table, columns):
        return self.engine.execute(query(self.table(table), columns, "key >> 32", "key & 4294967295")).fetchone()

    def fens(self):
        rows = self.engine.execute(f"SELECT game_id, ply, fen FROM {self.table('game_position')}")
        return fen_sum(row for many in iter(lambda: rows.fetchmany(100000), []) for row in many)

    def look_up(self, key):
        sql = f"SELECT game_id, ply, move_code FROM {self.table('position_game')} WHERE key_prefix = ? AND key = ?"
        return self.engine.execute(sql, [key >> 56 & 255, key]).fetchall()


class ClickHouse:
    module = "chdb"

    def __init__(self, module, directory):
        self.run_query, self.directory = module.query, directory

    def rows(self, sql):
        import pyarrow

        data = self.run_query(sql, "ArrowStream").bytes()
        with pyarrow.ipc.open_stream(io.BytesIO(data)) as stream:
            yield from arrow_rows(stream)

    def table(self, table, directories="**"):
        return f"file('{self.directory}/{table}/{directories}/*.parquet', Parquet)"

    def sums(self, table, columns):
        sql = query(self.table(table), columns, "bitShiftRight(key, 32)", "bitAnd(key, 4294967295)")
        return next(self.rows(sql))

    def fens(self):
        text = "SELECT game_id, ply, toString(fen) AS fen FROM " + self.table("game_position")
        return fen_sum((game, ply, fen if isinstance(fen, str) else fen.decode()) for game, ply, fen in self.rows(text))

    def look_up(self, key):
        directory = f"key_prefix={key >> 56 & 255}"
        return list(self.rows(f"SELECT game_id, ply, move_code FROM {self.table('position_game', directory)} WHERE key = {key}"))


class Polars:
    module = "polars"

    def __init__(self, module, directory):
        self.polars, self.directory = module, directory

    def table(self, table):
        return self.polars.scan_parquet(f"{self.directory}/{table}", hive_partitioning=True)

    def sums(self, table, columns):
        column = self.polars.col
        key = column("key")
        frame = self.table(table).select(
            rows=self.polars.len(),
            high=key.floordiv(1 << 32).sum(),
            low=key.mod(1 << 32).sum(),
            negative=(key < 0).sum(),
            none=column("move_code").null_count(),
            null=(column("move_code") == 0).sum(),
            **{f"sum_{name}": column(name).cast(self.polars.Int64).sum() for name in columns},
        )
        return frame.collect(engine="streaming").row(0)

    def fens(self):
        frame = self.table("game_position").select("game_id", "ply", "fen").collect()
        return fen_sum(frame.iter_rows())

    def look_up(self, key):
        column = self.polars.col
        here = self.table("position_game").filter(column("key_prefix") == key >> 56 & 255, column("key") == key)
        return here.select("game_id", "ply", "move_code").collect().rows()


class PyArrow:
    module = "pyarrow"

    def __init__(self, _module, directory):
        self.dataset = importlib.import_module("pyarrow.dataset")
        self.compute = importlib.import_module("pyarrow.compute")
        self.directory = directory

    def table(self, table):
        return self.dataset.dataset(f"{self.directory}/{table}", partitioning="hive")

    def sums(self, table, columns):
        compute = self.compute
        rows = self.table(table).to_table(columns=list(dict.fromkeys(["key", "move_code", *columns])))
        key, code = rows.column("key"), rows.column("move_code")
        high = compute.shift_right(key, 32)
        low = compute.bit_wise_and(key, (1 << 32) - 1)
        sums = [high, low, compute.less(key, 0)]
        others = [code.null_count, compute.sum(compute.equal(code, 0)).as_py()]
        return (
            rows.num_rows,
            *(compute.sum(values).as_py() for values in sums),
            *others,
            *(compute.sum(rows.column(name)).as_py() for name in columns),
        )

    def fens(self):
        return fen_sum(arrow_rows(self.table("game_position").to_batches(columns=["game_id", "ply", "fen"])))

    def look_up(self, key):
        field = self.dataset.field
        here = (field("key_prefix") == key >> 56 & 255) & (field("key") == key)
        rows = self.table("position_game").to_table(columns=["game_id", "ply", "move_code"], filter=here)
        return list(zip(*(column.to_pylist() for column in rows.columns)))


class Spark:
    module = "pyspark"
    vectorised = True

    def __init__(self, _module, directory):
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
        # Queries are too short to benefit from the second compiler of the JVM.
        builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        self.spark = builder.config("spark.sql.shuffle.partitions", "4").getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")
        self.spark.conf.set("spark.sql.parquet.enableVectorizedReader", str(self.vectorised).lower())
        for table in NUMBERS:
            self.spark.read.parquet(f"{directory}/{table}").createOrReplaceTempView(table)

    def sums(self, table, columns):
        return tuple(self.spark.sql(query(table, columns, "shiftright(key, 32)", "key & 4294967295")).first())

    def fens(self):
        return self.spark.sql("SELECT sum(crc32(concat_ws(' ', game_id, ply, fen))) FROM game_position").first()[0]

    def look_up(self, key):
        sql = f"SELECT game_id, ply, move_code FROM position_game WHERE key_prefix = {key >> 56 & 255} AND key = {key}"
        return [tuple(row) for row in self.spark.sql(sql).collect()]


class SparkByRow(Spark):
    """Without the vectorised reader."""

    vectorised = False


ENGINES = {"duckdb": [DuckDb], "clickhouse": [ClickHouse], "polars": [Polars], "pyarrow": [PyArrow], "spark": [Spark, SparkByRow]}


def main():
    directory, database, *names = sys.argv[1:]
    truth = Sqlite(database)
    sums = {table: truth.sums(table, columns) for table, columns in NUMBERS.items()}
    rows, _, _, negative, none, null, *_ = sums["game_position"]
    assert rows > none > 0 and negative > 0 and null > 0, "the games lack rows that the test needs"
    fens = truth.fens()
    keys = {key: truth.look_up(key) for key in truth.keys()}
    for kind in (kind for name in names for kind in ENGINES[name]):
        began = time.monotonic()
        module = importlib.import_module(kind.module)
        engine = kind(module, directory)
        for table, columns in NUMBERS.items():
            found = tuple(int(value or 0) for value in engine.sums(table, columns))
            assert found == sums[table], f"{kind.__name__}: {table}: {found} instead of {sums[table]}"
        assert engine.fens() == fens, f"{kind.__name__}: FENs differ"
        for key, expected in list(keys.items())[:: 1 if kind.module != "pyspark" else 8]:
            found = sorted((tuple(row) for row in engine.look_up(key)), key=repr)
            assert found == expected, f"{kind.__name__}: key {key}: {found[:5]} instead of {expected[:5]}"
        print(f"{kind.__name__} {module.__version__}: {rows} rows, {time.monotonic() - began:.1f} s", flush=True)


main()
