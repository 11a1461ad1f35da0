"""Builds the wheel: maturin builds the module; the program and the SQLite extension are built before it and put beside it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import maturin
from maturin import (  # noqa: F401  what pip asks a build backend for
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

PACKAGE = Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parent
SCRIPTS = PACKAGE / "pgndex.data" / "scripts"


def prepare_metadata_for_build_wheel(directory: str, settings: dict[str, Any] | None = None) -> str:
    # Maturin looks for it, even if it only writes down what the package is.
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    return maturin.prepare_metadata_for_build_wheel(directory, settings)


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(directory: str, settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    build_parts()
    return maturin.build_wheel(directory, settings, metadata)


def build_editable(directory: str, settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    build_parts()
    return maturin.build_editable(directory, settings, metadata)


def build_parts() -> None:
    """Builds the program and the extension. Each is built on its own: the extension must not be given the program's SQLite."""
    cargo("--bin", "pgndex")
    cargo("--package", "pgndex-sqlite")
    metadata = subprocess.run(["cargo", "metadata", "--no-deps", "--format-version", "1"], cwd=ROOT, check=True, capture_output=True)
    built = Path(json.loads(metadata.stdout)["target_directory"]) / "release"
    program, prefix, ending = {
        "win32": ("pgndex.exe", "", ".dll"),
        "darwin": ("pgndex", "lib", ".dylib"),
    }.get(sys.platform, ("pgndex", "lib", ".so"))
    put(built / program, SCRIPTS / program)
    put(built / f"{prefix}pgndex_sqlite{ending}", PACKAGE / "pgndex" / f"pgndex_sqlite{ending}")


def cargo(*arguments: str) -> None:
    subprocess.run(["cargo", "build", "--release", "--locked", *arguments], cwd=ROOT, check=True)


def put(built: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    # Not over the old one: a program may have it open.
    new = place.with_name(place.name + ".new")
    shutil.copyfile(built, new)
    new.chmod(0o755)
    os.replace(new, place)
