"""A Spark job that turns PGN files into the Parquet tables of ``pgndex index --parquet``, on many machines.

Each task indexes a part of a file in its own process and writes Parquet files into a directory of its own. The driver uses one complete
attempt of each part and ignores others, so a task may fail, run twice or be killed. Then Spark builds the tables that need all parts:
``position_game``, ``continuation`` and ``duplicate``.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pgndex
from pgndex import part as pgn_part

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PART_BYTES = 128 << 20
# For each task, which uses up to 300 MB more.
MEMORY = 1 << 30
# The tables sorted by key, which are built from all parts.
BY_KEY = ("position_game", "continuation")
ATTEMPTS = "_attempts"
PLAN = "_plan.json"
MOVES = "_moves.json"
JOB = "_job.json"
# File names have five digits for the number of a part.
MOST_PARTS = 100_000


class JobError(pgndex.Error):
    """The job cannot be run."""


@dataclass(frozen=True)
class Settings:
    """The options that the tables depend on."""

    part_bytes: int
    partition_by: str
    continuation_threshold: int
    duplicates: str


@dataclass(frozen=True)
class Part:
    """A part of a file: a range of bytes."""

    shard: int
    path: str
    start: int
    end: int


@dataclass
class Summary:
    """The result of a job."""

    parts: int
    games: int
    plies: int
    problems: int
    duplicates: int
    files: int
    bytes: int
    # The number of parts that an earlier run had written, and of attempts whose files were discarded.
    taken_over: int
    thrown_away: int


def index(
    spark: SparkSession,
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    part_bytes: int = PART_BYTES,
    partition_by: str = "month",
    continuation_threshold: int = 64,
    duplicates: str = "skip",
    overwrite: bool = False,
    threads: int = 1,
    memory: int = MEMORY,
) -> Summary:
    """Indexes PGN files into Parquet files below ``out``.

    ``out`` and the files must have the same path on the driver and on all executors. After a failure or a kill, the same call continues:
    complete parts are not read again. ``duplicates="skip"`` omits games that repeat an earlier one from ``position_game`` and
    ``continuation``, and lists them in ``duplicate``; the other tables keep them. ``threads`` and ``memory`` (in bytes) are those of one
    task.

    Raises :class:`JobError` if ``out`` has a complete job, or a job with other files or settings, and ``overwrite`` is not set.
    """
    if duplicates not in ("skip", "keep"):
        raise ValueError(f"duplicates={duplicates!r}: unknown value; write skip or keep")
    settings = Settings(part_bytes, partition_by, continuation_threshold, duplicates)
    parts = plan(paths, part_bytes)
    directory = Path(out).absolute()
    _begin(directory, parts, settings, overwrite)
    if (directory / ATTEMPTS / MOVES).exists():
        # An earlier run was killed while it renamed files.
        return _commit(directory)
    done = _complete_attempts(directory)
    left = [part for part in parts if part.shard not in done]
    for attempt in _write_parts(spark, directory, left, settings, threads, memory):
        done[attempt["shard"]] = attempt
    chosen = [done[part.shard] for part in parts]
    thrown_away = _count_attempts(directory) - len(chosen)
    tables = _tables_of_all(spark, directory, chosen, settings)
    summary = Summary(
        parts=len(parts),
        games=sum(attempt["games"] for attempt in chosen),
        plies=sum(attempt["plies"] for attempt in chosen),
        problems=sum(attempt["errors"] + attempt["warnings"] for attempt in chosen),
        duplicates=tables["duplicate"],
        files=0,
        bytes=0,
        taken_over=len(parts) - len(left),
        thrown_away=thrown_away,
    )
    _write(directory / ATTEMPTS / MOVES, _moves(directory, chosen, settings, summary))
    return _commit(directory)


def plan(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], part_bytes: int = PART_BYTES) -> list[Part]:
    """The parts of files, in order. The number of a part is the upper half of its game numbers."""
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    parts: list[Part] = []
    for path in map(os.fspath, pgn_part.files([os.fspath(path) for path in paths])):
        ranges, _ = pgn_part.parts(path, part_bytes)
        parts += [Part(len(parts) + number, path, start, end) for number, (start, end) in enumerate(ranges)]
    if len(parts) > MOST_PARTS:
        raise JobError(f"{len(parts)} parts are more than {MOST_PARTS}; set part_bytes to more than {part_bytes}")
    return parts


def write_attempt(part: Part, attempts: str, settings: Settings, threads: int = 1, memory: int = MEMORY) -> dict[str, Any]:
    """Indexes one part into a new directory. Returns the data for the manifest."""
    attempt = Path(attempts) / f"part-{part.shard:05}" / uuid.uuid4().hex
    attempt.parent.mkdir(parents=True, exist_ok=True)
    written = pgn_part.write_part(
        part.path,
        part.start,
        part.end,
        str(attempt),
        shard=part.shard,
        partition_by=settings.partition_by,
        continuation_threshold=settings.continuation_threshold,
        threads=threads,
        memory=memory,
    )
    said = {"shard": part.shard, "attempt": str(attempt), **written}
    # Written last: an attempt with it is complete.
    _write(attempt / "_attempt.json", said)
    return said


def _begin(directory: Path, parts: list[Part], settings: Settings, overwrite: bool) -> None:
    """Records the settings of the job, or checks that a job begun earlier has the same settings."""
    sizes = {part.path: (os.path.getsize(part.path), os.stat(part.path).st_mtime_ns) for part in parts}
    wanted = {"settings": asdict(settings), "parts": [asdict(part) for part in parts], "files": {path: list(size) for path, size in sizes.items()}}
    if directory.exists():
        plan_file, others = directory / PLAN, any(directory.iterdir())
        begun = json.loads(plan_file.read_text()) if plan_file.exists() else None
        if others and begun is None:
            raise JobError(f"{directory}: contains other files; give another directory")
        if (directory / JOB).exists() and not overwrite:
            raise JobError(f"{directory}: has a complete job; set overwrite to replace it")
        if begun is not None and begun != wanted and not overwrite:
            raise JobError(f"{directory}: a job with other files or settings was begun there; set overwrite to replace it")
        if begun != wanted or (directory / JOB).exists():
            shutil.rmtree(directory)
    directory.mkdir(parents=True, exist_ok=True)
    _write(directory / PLAN, wanted)


def _complete_attempts(directory: Path) -> dict[int, dict[str, Any]]:
    """One complete attempt of each part that has one."""
    done: dict[int, dict[str, Any]] = {}
    for said in sorted((directory / ATTEMPTS).glob("part-*/*/_attempt.json")):
        attempt = json.loads(said.read_text())
        done.setdefault(attempt["shard"], attempt)
    return done


def _count_attempts(directory: Path) -> int:
    return sum(1 for _ in (directory / ATTEMPTS).glob("part-*/*"))


def _write_parts(
    spark: SparkSession, directory: Path, parts: list[Part], settings: Settings, threads: int, memory: int
) -> list[dict[str, Any]]:
    """Writes each part in a separate task. If a task ran twice, Spark returns one result."""
    if not parts:
        return []
    attempts = str(directory / ATTEMPTS)

    def write(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            for number in batch.column(0).to_pylist():
                said = write_attempt(parts[number], attempts, settings, threads, memory)
                yield pyarrow.RecordBatch.from_pydict({"said": [json.dumps(said)]})

    # One row in each partition.
    tasks = spark.range(0, len(parts), 1, len(parts))
    return [json.loads(row.said) for row in tasks.mapInArrow(write, "said string").collect()]


def _tables_of_all(spark: SparkSession, directory: Path, chosen: list[dict[str, Any]], settings: Settings) -> dict[str, int]:
    """Writes the tables that need all parts, beside the attempts. Returns their numbers of rows."""
    target = directory / ATTEMPTS / "all"
    shutil.rmtree(target, ignore_errors=True)
    games = _read(spark, chosen, "game")
    rows = {"duplicate": 0}
    visits = _read(spark, chosen, "position_game").selectExpr("*", "int(shiftright(key, 56) & 255) AS key_prefix")
    if settings.duplicates == "skip":
        duplicates = find_duplicates(games, _read(spark, chosen, "game_position")).coalesce(1)
        duplicates.write.parquet(str(target / "duplicate"))
        duplicates = spark.read.parquet(str(target / "duplicate"))
        rows["duplicate"] = duplicates.count()
        if rows["duplicate"]:
            visits = visits.join(duplicates.select("game_id"), "game_id", "left_anti")
    columns = ["key", "game_id", "ply", "move_code", "result", "white_elo", "black_elo", "key_prefix"]
    expected = sum(attempt["positions"] for attempt in chosen)
    partitions = max(1, min(4096, round(expected / 16e6)), spark.sparkContext.defaultParallelism)
    by_key = visits.select(*columns).repartitionByRange(partitions, "key_prefix", "key")
    by_key = by_key.sortWithinPartitions("key_prefix", "key", "game_id", "ply")
    _write_by_key(by_key, target / "position_game")
    by_key = spark.read.parquet(str(target / "position_game"))
    _check_rows(spark, by_key, chosen, target, rows["duplicate"])
    counted = count_continuations(by_key, games, _read(spark, chosen, "game_position"), settings.continuation_threshold)
    counted = counted.repartitionByRange(max(1, partitions // 8), "key_prefix", "key").sortWithinPartitions("key_prefix", "key", "move_code")
    _write_by_key(counted, target / "continuation")
    return rows


def find_duplicates(games: DataFrame, positions: DataFrame) -> DataFrame:
    """Games with the moves, players, date and result of an earlier one, as ``pgndex index`` finds them."""
    from pyspark.sql import functions as f

    alike = ["moves_hash", "white", "black", "date", "result", "status_ok"]
    played = games.where("ply_count > 0 AND white IS NOT NULL AND black IS NOT NULL")
    played = played.withColumn("status_ok", f.col("status") == "ok").select("game_id", "start_fen", *alike)
    # Equal hashes can be a coincidence, so the moves are compared.
    keys = played.groupBy(*alike).count().where("count > 1").drop("count")
    same = [f.expr(f"a.{name} <=> b.{name}") for name in alike]
    proposed = played.alias("a").join(keys.alias("b"), same, "left_semi")
    moves = positions.join(proposed.select("game_id"), "game_id", "left_semi").where("move_code IS NOT NULL")
    moves = moves.groupBy("game_id").agg(f.sort_array(f.collect_list(f.struct("ply", "move_code"))).alias("moves"))
    alike += ["start_fen", "moves"]
    groups = proposed.join(moves, "game_id").groupBy(*alike).agg(f.min("game_id").alias("original_id"), f.collect_list("game_id").alias("ids"))
    games = groups.select(f.explode("ids").alias("game_id"), "original_id").where("game_id <> original_id")
    return games.select("game_id", f.lit("same").alias("kind"), "original_id").orderBy("game_id")


def count_continuations(by_key: DataFrame, games: DataFrame, positions: DataFrame, threshold: int) -> DataFrame:
    """The rows of ``continuation``: moves played from frequent positions. A game counts once, with the last move it played there."""
    from pyspark.sql import functions as f

    last = by_key.groupBy("key_prefix", "key", "game_id").agg(
        f.max(f.struct(f.col("move_code").isNotNull().alias("went_on"), "ply", "move_code", "result", "white_elo", "black_elo")).alias("last")
    )
    visited = last.groupBy("key").count().where(f.col("count") >= threshold).select("key")
    visited = visited.join(_shared_keys(visited, games, positions), "key", "left_anti")
    years = games.select("game_id", f.expr("CASE WHEN date RLIKE '^[0-9]{4}' THEN nullif(int(substr(date, 1, 4)), 0) END").alias("year"))
    counted = last.join(visited, "key").select("key_prefix", "key", "game_id", "last.*").where("move_code IS NOT NULL AND result <> '*'")

    def won(result: str) -> Any:
        return f.expr(f"count(CASE WHEN result = '{result}' THEN 1 END)")

    return (
        counted.join(years, "game_id")
        .groupBy("key_prefix", "key", "move_code")
        .agg(
            f.count("*").alias("games"),
            won("1-0").alias("white_wins"),
            won("1/2-1/2").alias("draws"),
            won("0-1").alias("black_wins"),
            f.expr("coalesce(sum(bigint(white_elo)), 0)").alias("white_elo_sum"),
            f.count("white_elo").alias("white_elo_games"),
            f.expr("coalesce(sum(bigint(black_elo)), 0)").alias("black_elo_sum"),
            f.count("black_elo").alias("black_elo_games"),
            f.min("year").alias("first_year"),
            f.max("year").alias("last_year"),
        )
    )


def _shared_keys(visited: DataFrame, games: DataFrame, positions: DataFrame) -> DataFrame:
    """Keys that two positions share. Only a game's own start position can be chosen to cause this, so only the keys of such games are
    checked."""
    from pyspark.sql import functions as f

    own = games.where("start_fen IS NOT NULL").select("game_id")
    keys = positions.join(own, "game_id", "left_semi").select("key").distinct().join(visited, "key", "left_semi")
    reached = positions.join(keys, "key", "left_semi").groupBy("key")
    return reached.agg(f.min("fen").alias("one"), f.max("fen").alias("other")).where("one <> other").select("key")


def _check_rows(spark: SparkSession, by_key: DataFrame, chosen: list[dict[str, Any]], target: Path, duplicates: int) -> None:
    """Compares the row count and sums of ``position_game`` with those of ``game_position``."""
    sums = ["count(*)", "sum(shiftright(key, 32))", "sum(key & 4294967295)", "sum(game_id)", "sum(ply)", "sum(move_code)"]
    positions = _read(spark, chosen, "game_position")
    if duplicates:
        known = spark.read.parquet(str(target / "duplicate")).select("game_id")
        positions = positions.join(known, "game_id", "left_anti")
    expected, found = positions.selectExpr(*sums).first(), by_key.selectExpr(*sums).first()
    if tuple(expected) != tuple(found):
        raise JobError(f"position_game does not have the rows of game_position: {tuple(found)} instead of {tuple(expected)}; run the job again")


def _read(spark: SparkSession, chosen: list[dict[str, Any]], table: str) -> DataFrame:
    """A table of all chosen attempts."""
    roots = [os.path.join(attempt["attempt"], table) for attempt in chosen]
    return spark.read.option("recursiveFileLookup", "true").parquet(*roots)


def _write_by_key(rows: DataFrame, target: Path) -> None:
    """Writes files as the program does: zstd, sorted keys as differences, a directory for each first byte of the keys."""
    writer = rows.write.partitionBy("key_prefix").option("compression", "zstd").option("parquet.compression.codec.zstd.level", "1")
    writer = writer.option("parquet.writer.version", "v2").option("parquet.page.row.count.limit", "4096")
    writer = writer.option("parquet.enable.dictionary#key", "false").option("parquet.enable.dictionary#game_id", "false")
    writer.parquet(str(target))
    if not any(target.rglob("*.parquet")):
        # Without a file, engines cannot find out the columns.
        rows.drop("key_prefix").limit(0).coalesce(1).write.parquet(str(target / "key_prefix=0"))


def _moves(directory: Path, chosen: list[dict[str, Any]], settings: Settings, summary: Summary) -> dict[str, Any]:
    """The final paths of all files, the manifests, and the summary."""
    moves, manifests = [], {}
    for attempt in chosen:
        root = Path(attempt["attempt"])
        name = f"_manifest-{attempt['shard']:05}.json"
        manifest = json.loads((root / name).read_text())
        for field in ("files", "tables"):
            manifest[field] = [entry for entry in manifest[field] if entry["table"] not in BY_KEY]
        moves += [[str(root / file["path"]), file["path"]] for file in manifest["files"]]
        manifests[name] = manifest
        summary.bytes += sum(file["bytes"] for file in manifest["files"])
    listed = []
    every = directory / ATTEMPTS / "all"
    for number, file in enumerate(sorted(every.rglob("*.parquet"))):
        parent = file.parent.relative_to(every)
        place = str(parent / f"all-{number:05}.parquet")
        moves.append([str(file), place])
        listed.append({"path": place, "table": parent.parts[0], "bytes": file.stat().st_size})
    summary.files = len(moves)
    summary.bytes += sum(file["bytes"] for file in listed)
    job = {"settings": asdict(settings), "summary": asdict(summary), "files": listed}
    job["attempts"] = {str(attempt["shard"]): os.path.basename(attempt["attempt"]) for attempt in chosen}
    return {"moves": moves, "manifests": manifests, "job": job}


def _commit(directory: Path) -> Summary:
    """Renames all files, then writes the lists of files. If it is killed, it can be repeated."""
    noted = json.loads((directory / ATTEMPTS / MOVES).read_text())
    for source, place in noted["moves"]:
        _move(Path(source), directory / place)
    for name, manifest in noted["manifests"].items():
        _write(directory / name, manifest)
    _write(directory / JOB, noted["job"])
    shutil.rmtree(directory / ATTEMPTS, ignore_errors=True)
    return Summary(**noted["job"]["summary"])


def _move(source: Path, target: Path) -> None:
    if source.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(source, target)
    elif not target.exists():
        raise JobError(f"{source}: is missing; run the job again with overwrite")


def _write(path: Path, value: Any) -> None:
    """Writes JSON under another name, then renames it, so that it is complete or missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    with open(partial, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)
