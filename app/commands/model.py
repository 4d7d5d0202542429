"""`longsearch model`: list the models on this machine, or download one."""

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longsearch.app.options import JSON, Actions, option
from longsearch.engine.errors import ModelError
from longsearch.engine.printable import printable

if TYPE_CHECKING:
    from longsearch.engine.models.hub import CachedModel

HELP = "list the models on this machine, or download one by its name"
OPTIONS = (
    Actions(
        {
            "list": ("list the models on this machine", JSON),
            "download": (
                "download a model from the Hugging Face hub: configuration, tokenizer and safetensors of one commit",
                option("name", "ORG/NAME, as on the model's page; the revision is optional", metavar="NAME[@REVISION]"),
            ),
        },
        required=True,
    ),
)


def run(options: Namespace) -> int:
    """Do the action. Returns 0; raises LongsearchError if it fails."""
    return _download(options.name) if options.action == "download" else _list(options.json)


def _download(text: str) -> int:
    from longsearch.app.settings.schema import variable_of
    from longsearch.engine.models.hub import ModelName

    name = ModelName.parse(text)
    from longsearch.engine.models.hub_download import HuggingFaceHub, download  # loads torch

    found = download(name, HuggingFaceHub(), lambda line: print(printable(line), file=sys.stderr))
    print(f"{found.name} is ready, in {printable(str(found.folder))}")
    print(f"use it: {variable_of('model')}={found.name.repo} longsearch index FOLDER")
    return 0


def _list(as_json: bool) -> int:
    from longsearch.app.models.encoders import chosen_model
    from longsearch.engine.models.hub import cached_models

    rows = [*_shipped(), *(_row(model) for model in cached_models())]
    if as_json:
        print(json.dumps({"chosen": chosen_model(), "models": rows}, indent=2))
        return 0
    for row in rows:
        name = row["name"] + (f"@{row['revision'][:12]}" if row["revision"] else "")
        note = "" if row["pinned"] else "  (only by this revision)"
        print(f"{printable(name)}  {row['family']}, {row['n_bytes'] / 1e6:,.0f} MB{note}")
    print(f"in use: {printable(chosen_model())}; to use another, set model in the config file: longsearch config edit")
    return 0


def _shipped() -> list[dict[str, Any]]:
    """Return the models that ship with longsearch. The one for English is listed even if a source tree lacks it."""
    from longsearch.engine.models.hub import SHIPPED, family_of, shipped_model

    rows = []
    for name in SHIPPED:
        folder = shipped_model(name)
        n_bytes = sum(path.stat().st_size for path in folder.iterdir()) if folder.is_dir() else 0
        try:
            family = family_of(folder)
        except ModelError:
            family = "missing"
        if name == "bundled" or family != "missing":
            rows.append(_as_row(name, "", family, n_bytes, folder, True))
    return rows


def _row(model: "CachedModel") -> dict[str, Any]:
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
