"""The data source ``pgn`` for Spark."""

from __future__ import annotations

import glob
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

from pyspark_pgndex.pushdown import games_of

if TYPE_CHECKING:
    import pyarrow

PARTITION_BYTES = 32 << 20
# The options that are not filters.
OWN_OPTIONS = {"path", "paths", "table", "columns", "partition_bytes"}
INTEGERS = {"elo_min", "elo_max", "plies_min", "plies_max"}


@dataclass
class Part(InputPartition):
    """A range of bytes of a file, and the number of the task."""

    path: str
    start: int
    end: int
    shard: int


class DefaultSource(DataSource):
    """Games directly from PGN files."""

    @classmethod
    def name(cls) -> str:
        return "pgn"

    def schema(self) -> StructType:
        from pgndex.part import columns

        return struct_type(columns(self.table, self.columns))

    def reader(self, schema: StructType) -> PgnReader:
        return PgnReader(self.table, schema, dict(self.options))

    @property
    def table(self) -> str:
        return self.options.get("table", "game")

    @property
    def columns(self) -> list[str] | None:
        columns = self.options.get("columns")
        return None if columns is None else [column.strip() for column in columns.split(",")]


def struct_type(columns: list[tuple[str, str, bool]]) -> StructType:
    """Converts columns to Spark's types: name, ``long``, ``int`` or ``text``, and whether NULLs are possible."""
    kinds = {"long": LongType(), "int": IntegerType(), "text": StringType()}
    return StructType([StructField(name, kinds[kind], nullable) for name, kind, nullable in columns])


class PgnReader(DataSourceReader):
    """Reads a table from PGN files, one part of a file in each task."""

    def __init__(self, table: str, schema: StructType, options: dict[str, str]) -> None:
        self.table = table
        self.struct = schema
        self.paths = _files(options)
        self.partition_bytes = int(options.get("partition_bytes", PARTITION_BYTES))
        self.games = {name: _value(name, value) for name, value in options.items() if name not in OWN_OPTIONS}

    def pushFilters(self, filters: list[Any]) -> list[Any]:
        """Skips games that cannot match. Returns all conditions, because Spark is more exact."""
        # Options take precedence.
        self.games = {**games_of(filters), **self.games}
        return filters

    def partitions(self) -> list[Part]:
        from pgndex.part import parts as parts_of

        parts: list[Part] = []
        for path in self.paths:
            ranges, undivided = parts_of(path, self.partition_bytes)
            if undivided and os.path.getsize(path) > self.partition_bytes:
                warnings.warn(f"{path}: one task reads the whole file, because it is {undivided}", stacklevel=2)
            first = len(parts)
            parts += [Part(path, start, end, first + number) for number, (start, end) in enumerate(ranges)]
        return parts

    def read(self, partition: Part) -> Iterator[pyarrow.RecordBatch]:
        import pgndex
        import pyarrow
        from pyspark.sql.pandas.types import to_arrow_schema

        # If there are no partitions, Spark adds one.
        if not isinstance(partition, Part):
            return
        schema = to_arrow_schema(self.struct)
        rows = pgndex.read_range(
            partition.path,
            partition.start,
            partition.end,
            self.table,
            columns=self.struct.names,
            shard=partition.shard,
            threads=1,
            **self.games,
        )
        for batch in pyarrow.RecordBatchReader.from_stream(rows):
            yield pyarrow.RecordBatch.from_arrays(batch.columns, schema=schema)


def _value(name: str, value: str) -> Any:
    """The value of an option, converted for the reader."""
    if name in INTEGERS:
        return int(value)
    if name == "speed":
        return [word.strip() for word in value.split(",")]
    if name == "with_evals":
        return value.strip().lower() in ("true", "1", "yes")
    return value


def _files(options: dict[str, str]) -> list[str]:
    """The files to read: given by path, in a directory, or matching a pattern."""
    import json

    paths = json.loads(options["paths"]) if "paths" in options else [options["path"]] if "path" in options else []
    if not paths:
        raise ValueError('no file is given; write spark.read.format("pgn").load("dump.pgn.zst")')
    from pgndex.part import files

    found: list[str] = []
    for path in paths:
        path = path.removeprefix("file://")
        if not os.path.exists(path) and glob.has_magic(path):
            fitting = sorted(glob.glob(path))
            if not fitting:
                raise FileNotFoundError(f"{path}: no file matches this pattern; check the pattern")
            found += fitting
        else:
            found.append(path)
    return [os.fspath(path) for path in files(found)]
