"""`longsearch model`: the models on this machine, and how another one comes here."""

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from app.encoders import MODEL_VARIABLE, chosen_model
from engine.errors import ModelError
from engine.models.hub import CachedModel, ModelName, bundled_model, cached_models, family_of
from engine.printable import printable


def run(options: Namespace) -> int:
    """0; LongsearchError where it cannot be done."""
    return _download(options.name) if options.action == "download" else _list(options.json)


def _download(text: str) -> int:
    name = ModelName.parse(text)
    from engine.models.hub_download import HuggingFaceHub, download  # loads torch

    found = download(name, HuggingFaceHub(), lambda line: print(printable(line), file=sys.stderr))
    print(f"{found.name} is ready, in {printable(str(found.folder))}")
    print(f"use it: {MODEL_VARIABLE}={found.name.repo} longsearch index FOLDER")
    return 0


def _list(as_json: bool) -> int:
    rows = [_bundled(), *(_row(model) for model in cached_models())]
    if as_json:
        print(json.dumps({"chosen": chosen_model(), "models": rows}, indent=2))
        return 0
    for row in rows:
        name = row["name"] + (f"@{row['revision'][:12]}" if row["revision"] else "")
        note = "" if row["pinned"] else "  (only by this revision)"
        print(f"{printable(name)}  {row['family']}, {row['n_bytes'] / 1e6:,.0f} MB{note}")
    print(f"in use: {printable(chosen_model())}; another: {MODEL_VARIABLE}=NAME, or a model's folder")
    return 0


def _bundled() -> dict[str, Any]:
    folder = bundled_model()
    n_bytes = sum(path.stat().st_size for path in folder.iterdir()) if folder.is_dir() else 0
    try:
        family = family_of(folder)
    except ModelError:  # a source tree without the model
        family = "missing"
    return _as_row("bundled", "", family, n_bytes, folder, True)


def _row(model: CachedModel) -> dict[str, Any]:
    return _as_row(model.name.repo, model.name.revision, model.family, model.n_bytes, model.folder, model.is_pinned)


def _as_row(name: str, revision: str, family: str, n_bytes: int, folder: Path, pinned: bool) -> dict[str, Any]:
    return {
        "name": name,
        "revision": revision,
        "family": family,
        "n_bytes": n_bytes,
        "folder": str(folder),
        "pinned": pinned,
    }
