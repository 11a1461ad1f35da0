"""A data source for Spark: chess games directly from PGN, ``spark.read.format("pgn").load("dump.pgn.zst")``.

Spark finds ``DefaultSource`` by the name of this package.
"""

from pyspark_pgndex.source import DefaultSource, PgnReader

__all__ = ["DefaultSource", "PgnReader"]
