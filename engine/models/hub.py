"""Finds models of the Hugging Face hub, `org/name` or `org/name@revision`, in the cache on this machine.

Opening a model never uses the network. If the cache lacks the model, the error names the command that downloads it. The
cache is Hugging Face's own (HF_HOME, HF_HUB_CACHE), which other programs share. A download writes a ref "longsearch"
beside Hugging Face's refs, so a name means the same commit until the model is downloaded again.
"""

import re
import warnings
from dataclasses import dataclass
from pathlib import Path

from longsearch import assets
from longsearch.engine.errors import ModelError
from longsearch.engine.late_patterns import late_pattern
from longsearch.engine.models.config import Mamba2Config, read_config
from longsearch.engine.models.other_families import RWKV7Config, XLSTMConfig

PIN = "longsearch"  # the ref that `engine.models.hub_download` writes
WORLD_VOCABULARY = "rwkv_vocab_v20230424.txt"
"""The vocabulary of RWKV's "World" tokenizer. Models that use it have no tokenizer.json."""

_NAME = late_pattern(
    r"(?P<repo>[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95})(@(?P<revision>[\w./-]{1,200}))?", re.ASCII
)
_FAMILY_NAMES: dict[type, str] = {Mamba2Config: "Mamba2", RWKV7Config: "RWKV-7", XLSTMConfig: "xLSTM"}
# these models were published without a tokenizer; all were trained with this one
_BORROWED_TOKENIZERS = {"state-spaces/mamba2": "EleutherAI/gpt-neox-20b"}


@dataclass(frozen=True, slots=True)
class ModelName:
    """The name of a model on the hub."""

    repo: str
    """`org/name`."""
    revision: str = ""
    """Branch, tag or commit; "" means the commit that was downloaded last, or else the cached `main`."""

    @classmethod
    def parse(cls, text: str) -> "ModelName":
        """Read a name from text. Raises ModelError if it is not a name."""
        match = _NAME.fullmatch(text)
        if match is None or ".." in text or "--" in text:
            raise ModelError(f"{text!r} is not the name of a model", "give ORG/NAME, ORG/NAME@REVISION, or a folder")
        return cls(match["repo"], match["revision"] or "")

    def __str__(self) -> str:
        return f"{self.repo}@{self.revision}" if self.revision else self.repo


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """Where the files of a model lie."""

    folder: Path
    """Holds config.json and the weights."""
    tokenizer_folder: Path
    """Holds tokenizer.json. It is another folder if the model was published without a tokenizer."""


@dataclass(frozen=True, slots=True)
class CachedModel:
    """A model in the cache that can be opened by its name."""

    name: ModelName
    """Its revision is the commit."""
    family: str
    folder: Path
    n_bytes: int
    """Size of the files of this commit."""
    is_pinned: bool
    """Whether the name without a revision means this commit."""


SHIPPED = {"bundled": "model", "multilingual": "multilingual"}
"""Models that ship with longsearch, by name, and their folders: for English, and for other languages."""


def bundled_model() -> Path:
    """Return the folder of the model for English that ships with longsearch."""
    return shipped_model("bundled")


def shipped_model(name: str) -> Path:
    """Return the folder of a model that ships with longsearch, whether or not it is there."""
    return Path(assets.__path__[0]) / SHIPPED[name]


def locate(model: str | Path) -> ModelFiles:
    """Return the files of a model, given as `bundled` or `multilingual`, as a folder or as a name on the hub.

    If a folder of that name exists, it is used. Raises ModelError if a model is not completely on this machine.
    """
    if isinstance(model, str) and model in SHIPPED:
        folder = shipped_model(model)
        if model != "bundled" and not (folder / "config.json").exists():
            hint = "install a longsearch that has it, or choose another: longsearch model list"
            raise ModelError(f"this longsearch came without the model {model}", hint)
        return ModelFiles(folder, folder)
    folder = Path(model).expanduser()
    if isinstance(model, Path) or folder.exists():
        return ModelFiles(folder, folder)
    if _NAME.fullmatch(model) is None:
        hint = "name one of longsearch model list, ORG/NAME to download one, or a folder with a model"
        raise ModelError(f"there is no model {model}", hint)
    name = ModelName.parse(model)
    folder = _cached_folder(name, "config.json")
    if not any(folder.glob("*.safetensors")):
        raise ModelError(f"only a part of {name} is on this machine", f"longsearch model download {name}")
    lender = tokenizer_lender(name)
    borrows = lender is not None and not (folder / "tokenizer.json").exists()
    return ModelFiles(folder, _cached_folder(lender, "tokenizer.json", name) if lender and borrows else folder)


def tokenizer_file(folder: Path) -> Path | None:
    """Return the path of tokenizer.json, or else of RWKV's vocabulary, or None."""
    return next((path for name in ("tokenizer.json", WORLD_VOCABULARY) if (path := folder / name).exists()), None)


def tokenizer_lender(name: ModelName) -> ModelName | None:
    """Return the model whose tokenizer `name` uses because it was published without one; None for all other models."""
    return next((ModelName(repo) for start, repo in _BORROWED_TOKENIZERS.items() if name.repo.startswith(start)), None)


def cached_models() -> list[CachedModel]:
    """Return all commits of all models in the cache that belong to a family longsearch runs, sorted by name."""
    from huggingface_hub import CacheNotFound, constants, scan_cache_dir

    try:
        with warnings.catch_warnings(action="ignore"):  # other programs may have left damaged repositories
            repos = scan_cache_dir(constants.HF_HUB_CACHE).repos
    except CacheNotFound:
        return []
    models = []
    for repo in repos:
        is_any_pinned = PIN in repo.refs
        for revision in repo.revisions if repo.repo_type == "model" else ():
            family = _family(revision.snapshot_path)
            if family and any(file.file_name.endswith(".safetensors") for file in revision.files):
                is_pinned = (PIN if is_any_pinned else "main") in revision.refs
                name = ModelName(repo.repo_id, revision.commit_hash)
                models.append(CachedModel(name, family, revision.snapshot_path, revision.size_on_disk, is_pinned))
    return sorted(models, key=lambda model: (model.name.repo, not model.is_pinned, model.name.revision))


def family_of(folder: Path) -> str:
    """Return the family of a checkpoint. Raises ModelError if longsearch cannot run it."""
    config, _ = read_config(folder / "config.json")
    return _FAMILY_NAMES[type(config)]


def _family(folder: Path) -> str:
    try:
        return family_of(folder)
    except ModelError:
        return ""


def _cached_folder(name: ModelName, file: str, wanted_by: ModelName | None = None) -> Path:
    """Return the cached folder of `name` that has `file`. Raises ModelError, with the command that downloads it."""
    from huggingface_hub import constants, try_to_load_from_cache  # takes 0.5 s, and folders do not need it

    for revision in (name.revision,) if name.revision else (PIN, "main"):
        path = try_to_load_from_cache(name.repo, file, constants.HF_HUB_CACHE, revision)
        if isinstance(path, str):
            return Path(path).parent
    missing = f"the tokenizer of {wanted_by}, {name}," if wanted_by else str(name)
    raise ModelError(f"{missing} is not on this machine", f"longsearch model download {wanted_by or name}")
