"""Reads PGN files with Spark, and indexes them with Spark jobs, and compares all results with SQLite.

Usage: spark.py PROGRAM DIRECTORY [WHAT]. The directory contains games.pgn; many.pgn.zst and single.pgn.zst, the same
games in many frames and in one; all.db, a database of all of them; and unique.db, one without duplicates. Prints one
line for each part.
"""

import bz2
import gzip
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import warnings
import zipfile
import zlib
from pathlib import Path

from pgndex import spark as job
from pyspark.sql import SparkSession
from pyspark.sql.datasource import EqualTo, GreaterThan, GreaterThanOrEqual, In, IsNotNull, LessThanOrEqual
from pyspark.sql.functions import lit
from pyspark_pgndex.pushdown import games_of

# Divisible files are read in four parts.
PART_BYTES = (Path(sys.argv[2]) / "many.pgn.zst").stat().st_size // 4 + 1
PLAIN_PART_BYTES = (Path(sys.argv[2]) / "games.pgn").stat().st_size // 4 + 1


def session():
    # Spark starts python3 for its workers, which may be a different one.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false").config("spark.driver.memory", "2g")
    builder = builder.config("spark.sql.shuffle.partitions", "4").config("spark.ui.showConsoleProgress", "false")
    # Queries are too short to benefit from the second compiler of the JVM.
    builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    # There are many small files here; one task per file would take longer than reading them.
    builder = builder.config("spark.sql.files.openCostInBytes", "65536").config("spark.sql.sources.parallelPartitionDiscovery.threshold", "100000")
    spark = builder.config("spark.sql.python.filterPushdown.enabled", "true").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def same(what, found, expected):
    found, expected = tuple(found), tuple(expected)
    assert found == expected, f"{what}: {found} instead of {expected}"


# The columns of each table that are summed up. Ids of games and sources are left out, because each task assigns its
# own.
SUMS = {
    "game": "count(*), sum(ply_count), sum(white_elo), count(white), count(date), sum(byte_length)",
    "move_eval": "count(*), sum(ply), sum(clock), sum(eval_cp), count(depth)",
    "problem": "count(*), count(token), sum(column_number)",
}


def read(spark, path, table, **options):
    size = PLAIN_PART_BYTES if path.endswith(".pgn") else PART_BYTES
    reader = spark.read.format("pgn").option("table", table).option("partition_bytes", size)
    return reader.options(**options).load(path)


def hold_tables(spark, path, database):
    """The tables of a file as the data source reads them."""
    for table, sums in SUMS.items():
        of_sqlite = "game LEFT JOIN player AS p ON p.player_id = white_id" if table == "game" else table
        expected = database.execute(f"SELECT {sums.replace('count(white)', 'count(p.name)')} FROM {of_sqlite}").fetchone()
        same(f"{path}: {table}", read(spark, path, table).selectExpr(*split(sums)).first(), expected)
    positions = read(spark, path, "game_position")
    sums = ["count(*)", "count(move_code)", "sum(shiftright(key, 32))", "sum(key & 4294967295)", "sum(crc32(concat_ws(' ', ply, halfmove_clock, fen)))"]
    rows = database.execute("SELECT ply, halfmove_clock, fen FROM game_position")
    fens = sum(zlib.crc32(b"%d %d %s" % (ply, clock, fen.encode())) for ply, clock, fen in rows)
    halves = "count(*), count(move_code), sum(key >> 32), sum(key & 4294967295)"
    expected = database.execute(f"SELECT {halves} FROM game_position").fetchone()
    same(f"{path}: game_position", positions.selectExpr(*sums).first(), (*expected, fens))
    # Game ids agree between the tables, and are unique.
    games = read(spark, path, "game").select("game_id")
    assert games.distinct().count() == games.count()
    of_positions = positions.select("game_id").distinct().join(games.withColumn("known", lit(1)), "game_id", "left")
    rows, known = of_positions.selectExpr("count(*)", "count(known)").first()
    assert rows == known > 0


def split(sums):
    return [part.strip() for part in sums.split(", ")]


def hold_data_source(spark, directory, database):
    games = (directory / "games.pgn").read_bytes()
    packed = {"games.pgn": True, "many.pgn.zst": True, "single.pgn.zst": False, "g.pgn.gz": False, "b.pgn.bz2": False, "z.zip": False}
    (directory / "g.pgn.gz").write_bytes(gzip.compress(games, 1))
    (directory / "b.pgn.bz2").write_bytes(bz2.compress(games, 1))
    with zipfile.ZipFile(directory / "z.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("games.pgn", games)
    for name, is_divided in packed.items():
        path = str(directory / name)
        partitions = read(spark, path, "game").rdd.getNumPartitions()
        assert partitions > 2 if is_divided else partitions == 1, f"{name}: {partitions} partitions"
        if is_divided:
            hold_tables(spark, path, database)
        else:
            count = database.execute("SELECT count(*), sum(ply_count) FROM game").fetchone()
            same(name, read(spark, path, "game").selectExpr("count(*)", "sum(ply_count)").first(), count)
        print(f"{name}: {partitions} tasks", flush=True)
    # Indivisible files are reported.
    from pyspark_pgndex.source import DefaultSource

    source = DefaultSource({"path": str(directory / "g.pgn.gz"), "partition_bytes": "1000"})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert len(source.reader(source.schema()).partitions()) == 1
    assert any("a gzip archive" in str(warning.message) for warning in caught), caught
    # Selected columns, in the requested order.
    frame = spark.read.format("pgn").option("columns", "white, game_id").load(str(directory / "many.pgn.zst"))
    assert frame.columns == ["white", "game_id"]
    frame = spark.read.format("pgn").option("table", "game_position").schema("key long, ply int").load(str(directory / "many.pgn.zst"))
    starts = "ply = 0 AND key = 5060803636482931868"
    expected = database.execute(f"SELECT count(*) FROM game_position WHERE {starts}").fetchone()[0]
    assert frame.where(starts).count() == expected > 500


def hold_filters(spark, directory, database):
    path = str(directory / "many.pgn.zst")
    for condition in (
        "white_elo >= 2200 AND black_elo >= 2000",
        "white_elo BETWEEN 1500 AND 1600 AND black_elo < 1550",
        "speed = 'blitz'",
        "speed IN ('bullet', 'rapid') AND result = '1-0'",
        "date >= '2016' AND date < '2020'",
        "date > '2013.05.??'",
        "date <= '2014.01.02'",
    ):
        expected = database.execute(f"SELECT count(*), sum(ply_count) FROM game WHERE {condition}").fetchone()
        found = read(spark, path, "game").where(condition).selectExpr("count(*)", "sum(ply_count)").first()
        same(condition, found, expected)
    expected = database.execute("SELECT count(*) FROM game_position JOIN game USING (game_id) WHERE white_elo >= 2000 AND black_elo >= 2000").fetchone()
    same("elo_min", read(spark, path, "game_position", elo_min="2000").selectExpr("count(*)").first(), expected)
    # Filters that are passed to the reader: games that cannot match are left out, and no others.
    elo, other = ("white_elo",), ("black_elo",)
    for conditions, expected in (
        ([GreaterThanOrEqual(elo, 2200)], {}),
        ([GreaterThanOrEqual(elo, 2200), GreaterThan(other, 2000)], {"elo_min": 2000}),
        ([EqualTo(elo, 2200), In(other, (1800, 2300))], {"elo_min": 1800, "elo_max": 2300}),
        ([EqualTo(("speed",), "blitz"), IsNotNull(("speed",))], {"speed": ["blitz"]}),
        ([In(("speed",), ("blitz", "unknown"))], {}),
        ([GreaterThanOrEqual(("date",), "2016.02.??")], {}),
        ([GreaterThanOrEqual(("date",), "2016.02.??"), LessThanOrEqual(("date",), "2017")], {"since": "2016.02", "until": "2017"}),
        ([EqualTo(("result",), "1-0")], {"result": "1-0"}),
    ):
        assert games_of(conditions) == expected, (conditions, games_of(conditions), expected)
    print("filters", flush=True)


def hold_job(spark, directory, out, summary, program):
    """The tables of a job equal those of a database without duplicates, and so does the information about them."""
    database = sqlite3.connect(directory / "unique.db")
    everything = sqlite3.connect(directory / "all.db")
    columns = "key, move_code, games, white_wins, draws, black_wins, white_elo_sum, white_elo_games, black_elo_sum, black_elo_games, first_year, last_year"
    expected = database.execute(f"SELECT {columns} FROM continuation ORDER BY key, move_code").fetchall()
    table = spark.read.parquet(str(out / "continuation"))
    found = [tuple(row) for row in table.selectExpr(*split(columns)).orderBy("key", "move_code").collect()]
    assert found == expected, f"continuation: {len(found)} rows, {len(expected)} expected; {next((pair for pair in zip(found, expected) if pair[0] != pair[1]), None)}"
    assert len(found) > 100
    assert table.where("key_prefix <> (shiftright(key, 56) & 255)").count() == 0
    sums = "count(*), {high}, sum(key & 4294967295), sum(ply), sum(p.move_code), sum(white_elo), sum(black_elo)"
    expected = database.execute(
        f"SELECT {sums.format(high='sum(key >> 32)')} FROM game_position AS p JOIN game USING (game_id)"
    ).fetchone()
    visits = spark.read.parquet(str(out / "position_game")).alias("p")
    same("position_game", visits.selectExpr(*split(sums.format(high="sum(shiftright(key,32))"))).first(), expected)
    same("problem", spark.read.parquet(str(out / "problem")).selectExpr("count(*)").first(), everything.execute("SELECT count(*) FROM problem").fetchone())
    # The other tables have all games in the order of the input, so their ids correspond to those of the database of all
    # games.
    ids = [row.game_id for row in spark.read.parquet(str(out / "game")).select("game_id").orderBy("game_id").collect()]
    offsets = [row[0] for row in everything.execute("SELECT byte_offset FROM game ORDER BY game_id")]
    assert len(ids) == len(offsets) == len(set(ids)) == summary.games
    number = {game: offset for game, offset in zip(ids, offsets)}
    duplicates = [(number[row.game_id], number[row.original_id]) for row in spark.read.parquet(str(out / "duplicate")).collect()]
    expected = database.execute(
        "SELECT d.byte_offset, g.byte_offset FROM duplicate AS d JOIN game AS g ON g.game_id = original_id WHERE kind = 'same' ORDER BY 1"
    ).fetchall()
    assert sorted(duplicates) == expected and len(expected) == summary.duplicates > 0, (len(duplicates), len(expected))
    assert not (out / "_attempts").exists()
    manifests = [json.loads(manifest.read_text()) for manifest in [*out.glob("_manifest-*.json"), out / "_job.json"]]
    listed = {file["path"] for manifest in manifests for file in manifest["files"]}
    there = {str(path.relative_to(out)) for path in out.rglob("*.parquet")}
    assert listed == there, listed ^ there
    printed = subprocess.run([program, "verify", "--quiet", "--parquet", str(out), "--all"], capture_output=True, text=True, check=False)
    assert printed.stdout.startswith("sound: "), printed


def index(spark, path, out, part_bytes=PART_BYTES, **options):
    return job.index(spark, path, out, part_bytes=part_bytes, partition_by="none", **options)


def kill_worker(attempts, killed):
    """Kills the process of the first attempt at part 1 as soon as it exists."""
    while not killed:
        for directory in (attempts / "part-00001").glob("*"):
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    if any(os.readlink(handle).startswith(str(directory)) for handle in (process / "fd").iterdir()):
                        os.kill(int(process.name), signal.SIGKILL)
                        killed.append(process.name)
                        return
                except (FileNotFoundError, PermissionError, ProcessLookupError):
                    continue
        time.sleep(0.01)


def hold_killed(spark, directory, program):
    path = str(directory / "many.pgn.zst")
    # A worker is killed during its first attempt.
    out, killed = directory / "killed", []
    watch = threading.Thread(target=kill_worker, args=(out / "_attempts", killed), daemon=True)
    watch.start()
    summary = index(spark, path, out)
    watch.join(10)
    assert killed and summary.thrown_away == 1, (killed, summary)
    hold_job(spark, directory, out, summary, program)
    print(f"a killed worker: {summary}", flush=True)
    # Existing files are not replaced unless requested.
    try:
        index(spark, path, out)
        raise AssertionError("a complete job was started again")
    except job.JobError as error:
        assert "overwrite" in str(error)


def hold_jobs(spark, directory, program):
    path = str(directory / "many.pgn.zst")
    first = rows_of(spark, directory / "killed")
    # Parts written earlier are reused; of several attempts at a part, only one is.
    out = directory / "twice"
    parts = job.plan(path, PART_BYTES)
    settings = job.Settings(PART_BYTES, "none", 64, "skip")
    job._begin(out, parts, settings, overwrite=False)
    for part in (parts[0], parts[2], parts[0]):
        job.write_attempt(part, str(out / "_attempts"), settings)
    half = next((out / "_attempts" / "part-00002").glob("*"))
    shutil.copytree(half, half.with_name("half"))
    (half.with_name("half") / "_attempt.json").unlink()
    summary = index(spark, path, out)
    assert (summary.taken_over, summary.thrown_away) == (2, 2), summary
    assert rows_of(spark, out) == first
    hold_job(spark, directory, out, summary, program)
    print(f"run twice: {summary}", flush=True)
    # Stopped while files are moved to their places. In a plain file, the same games are in other parts.
    out, moved, move = directory / "stopped", [], job._move
    path = str(directory / "games.pgn")

    def stop(source, target):
        moved.append(source)
        if len(moved) % 5 == 0:
            raise KeyboardInterrupt
        move(source, target)

    job._move = stop
    stops = 0
    while stops < 3:
        try:
            index(spark, path, out, PLAIN_PART_BYTES)
            break
        except KeyboardInterrupt:
            stops += 1
    job._move = move
    assert stops == 3
    summary = index(spark, path, out, PLAIN_PART_BYTES)
    hold_job(spark, directory, out, summary, program)
    print(f"stopped {stops} times: {summary}", flush=True)


def rows_of(spark, out):
    """The number of rows and a checksum of each table of a job."""
    found = {}
    for table in ("game", "game_position", "position_game", "continuation", "duplicate"):
        rows = spark.read.parquet(str(out / table))
        found[table] = tuple(rows.selectExpr("count(*)", "bit_xor(xxhash64(*))").first())
    return found


def main():
    program, directory, wanted = sys.argv[1], Path(sys.argv[2]).resolve(), sys.argv[3:]
    spark = session()
    database = sqlite3.connect(directory / "all.db")
    for name, hold in (
        ("data source", lambda: hold_data_source(spark, directory, database)),
        ("filters", lambda: hold_filters(spark, directory, database)),
        ("a killed worker", lambda: hold_killed(spark, directory, program)),
        ("jobs", lambda: hold_jobs(spark, directory, program)),
    ):
        if wanted and name not in wanted:
            continue
        began = time.monotonic()
        hold()
        print(f"{name}: {time.monotonic() - began:.1f} s", flush=True)
    spark.stop()


main()
