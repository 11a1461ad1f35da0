"""Parts of files, for jobs of many tasks: what :mod:`pgndex.spark` and the data source ``pyspark_pgndex`` are made of.

- ``files(paths)``: the files that paths stand for, as ``pgndex index`` lists them.
- ``parts(path, size)``: how a file can be read in parts of about ``size`` bytes: a list of starts and ends, and if it is one part because of its
  form, what it is, else None.
- ``columns(table, columns=None)``: the columns of a table: name, ``"long"``, ``"int"`` or ``"text"``, and whether there may be NULLs.
- ``write_part(path, start, end, directory, *, shard, partition_by, continuation_threshold, threads, memory)``: the Parquet files of one part, with
  ``position_game`` in one file and ``continuation`` without rows, as these are told by all parts together.

:func:`pgndex.read_range` reads the rows of one part.
"""

from pgndex._pgndex import columns, files, parts, write_part

__all__ = ["columns", "files", "parts", "write_part"]
