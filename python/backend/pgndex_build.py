"""Builds the wheel. maturin builds the module; before that, the program and the SQLite extension are built and copied beside it.

``pip install --config-settings profile=dev ./python`` builds with another of Cargo's profiles than ``release``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import maturin
from maturin import (  # noqa: F401  functions that pip calls
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

PACKAGE = Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parent
SCRIPTS = PACKAGE / "pgndex.data" / "scripts"


def prepare_metadata_for_build_wheel(directory: str, settings: dict[str, Any] | None = None) -> str:
    # Maturin requires the directory, even if it only writes the metadata.
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    return maturin.prepare_metadata_for_build_wheel(directory, settings)


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(directory: str, settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    return maturin.build_wheel(directory, build_parts(settings), metadata)


def build_editable(directory: str, settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    return maturin.build_editable(directory, build_parts(settings), metadata)


def build_parts(settings: dict[str, Any] | None) -> dict[str, Any]:
    """Builds the program and the extension. Returns the settings for maturin."""
    settings = dict(settings or {})
    profile = settings.pop("profile", "release")
    # With the module's features, so that dependencies are compiled once for both.
    cargo("--profile", profile, "--package", "pgndex", "--package", "pgndex-python", "--bin", "pgndex")
    # Built alone, because it must not contain the program's SQLite.
    cargo("--profile", profile, "--package", "pgndex-sqlite")
    metadata = subprocess.run(["cargo", "metadata", "--no-deps", "--format-version", "1"], cwd=ROOT, check=True, capture_output=True)
    built = Path(json.loads(metadata.stdout)["target_directory"]) / {"dev": "debug"}.get(profile, profile)
    program, prefix, ending = {
        "win32": ("pgndex.exe", "", ".dll"),
        "darwin": ("pgndex", "lib", ".dylib"),
    }.get(sys.platform, ("pgndex", "lib", ".so"))
    put(built / program, SCRIPTS / program)
    put(built / f"{prefix}pgndex_sqlite{ending}", PACKAGE / "pgndex" / f"pgndex_sqlite{ending}")
    return {**settings, "build-args": f"--profile {profile}"}


def cargo(*arguments: str) -> None:
    subprocess.run(["cargo", "build", "--locked", *arguments], cwd=ROOT, check=True)


def put(built: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    # Not in place: a program may have the old file open.
    new = place.with_name(place.name + ".new")
    shutil.copyfile(built, new)
    new.chmod(0o755)
    os.replace(new, place)
