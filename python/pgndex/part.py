"""Parts of files, for jobs of many tasks. :mod:`pgndex.spark` and the data source ``pyspark_pgndex`` use this module.

- ``files(paths)``: the files that paths refer to: files, directories, patterns and lists, as for ``pgndex index``.
- ``parts(path, size)``: the parts of about ``size`` bytes in which a file can be read: a list of starts and ends. If its format allows only
  one part, also the name of the format, else None.
- ``columns(table, columns=None)``: the columns of a table: name, ``"long"``, ``"int"`` or ``"text"``, and whether NULLs are possible.
- ``write_part(path, start, end, directory, *, shard, partition_by, continuation_threshold, threads, memory)``: writes the Parquet files of
  one part. ``position_game`` is one file, and ``continuation`` has no rows, because these two tables need all parts.

:func:`pgndex.read_range` reads the rows of one part.
"""

from pgndex._pgndex import columns, files, parts, write_part

__all__ = ["columns", "files", "parts", "write_part"]
