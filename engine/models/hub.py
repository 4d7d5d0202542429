"""Checkpoints by name, `org/name` or `org/name@revision` on the Hugging Face hub, found in this machine's cache.

Opening a model never touches the network: what is not in the cache is an error that names the command to get it.
The cache is Hugging Face's own (HF_HOME, HF_HUB_CACHE), shared with every other program; a download leaves a ref
"longsearch" beside Hugging Face's, so that a name means the same commit until it is downloaded again.
"""

import re
import warnings
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from longsearch.engine.errors import ModelError
from longsearch.engine.models.config import Mamba2Config, read_config
from longsearch.engine.models.rwkv7_config import RWKV7Config
from longsearch.engine.models.xlstm_config import XLSTMConfig

PIN = "longsearch"  # the ref that `engine.models.hub_download` writes
WORLD_VOCABULARY = "rwkv_vocab_v20230424.txt"
"""The one there is of RWKV's "World" tokenizer, for which its models have no tokenizer.json."""

_NAME = re.compile(
    r"(?P<repo>[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95})(@(?P<revision>[\w./-]{1,200}))?", re.ASCII
)
_FAMILY_NAMES: dict[type, str] = {Mamba2Config: "Mamba2", RWKV7Config: "RWKV-7", XLSTMConfig: "xLSTM"}
# published without one; all were trained with this
_BORROWED_TOKENIZERS = {"state-spaces/mamba2": "EleutherAI/gpt-neox-20b"}


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model on the hub."""

    repo: str
    """`org/name`."""
    revision: str = ""
    """Branch, tag or commit; "": the one downloaded last, else whichever is cached as `main`."""

    @classmethod
    def parse(cls, text: str) -> "ModelName":
        """Raises ModelError for what is no name."""
        match = _NAME.fullmatch(text)
        if match is None or ".." in text or "--" in text:
            raise ModelError(f"{text!r} is no model's name", "names are ORG/NAME or ORG/NAME@REVISION, or a folder")
        return cls(match["repo"], match["revision"] or "")

    def __str__(self) -> str:
        return f"{self.repo}@{self.revision}" if self.revision else self.repo


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """Where a model lies."""

    folder: Path
    """With config.json and the weights."""
    tokenizer_folder: Path
    """With tokenizer.json; another where the model was published without."""


@dataclass(frozen=True, slots=True)
class CachedModel:
    """A model in the cache that can be opened by its name."""

    name: ModelName
    """With the commit as its revision."""
    family: str
    folder: Path
    n_bytes: int
    """Of this commit's files."""
    is_pinned: bool
    """Whether the bare name means this commit."""


def bundled_model() -> Path:
    """The folder of the model that ships with longsearch."""
    return Path(str(resources.files("longsearch.assets"))) / "model"


def locate(model: str | Path) -> ModelFiles:
    """The files of `bundled`, of a model's folder, or of its name on the hub. Raises ModelError where it is none.

    A folder that is there wins over a name.
    """
    if model == "bundled":
        return ModelFiles(bundled_model(), bundled_model())
    folder = Path(model).expanduser()
    if isinstance(model, Path) or folder.exists() or _NAME.fullmatch(model) is None:
        return ModelFiles(folder, folder)
    name = ModelName.parse(model)
    folder = _cached_folder(name, "config.json")
    if not any(folder.glob("*.safetensors")):
        raise ModelError(f"{name} is only partly on this machine", f"longsearch model download {name}")
    lender = tokenizer_lender(name)
    borrows = lender is not None and not (folder / "tokenizer.json").exists()
    return ModelFiles(folder, _cached_folder(lender, "tokenizer.json", name) if lender and borrows else folder)


def tokenizer_file(folder: Path) -> Path | None:
    """tokenizer.json, or else RWKV's vocabulary; None where there is neither."""
    return next((path for name in ("tokenizer.json", WORLD_VOCABULARY) if (path := folder / name).exists()), None)


def tokenizer_lender(name: ModelName) -> ModelName | None:
    """Whose tokenizer a model uses that was published without one."""
    return next((ModelName(repo) for start, repo in _BORROWED_TOKENIZERS.items() if name.repo.startswith(start)), None)


def cached_models() -> list[CachedModel]:
    """The models in the cache that are of a family we run, by name; of each every commit."""
    from huggingface_hub import CacheNotFound, constants, scan_cache_dir

    try:
        with warnings.catch_warnings(action="ignore"):  # of damaged repositories, which others may have left
            repos = scan_cache_dir(constants.HF_HUB_CACHE).repos
    except CacheNotFound:
        return []
    found = []
    for repo in repos:
        is_any_pinned = PIN in repo.refs
        for revision in repo.revisions if repo.repo_type == "model" else ():
            family = _family(revision.snapshot_path)
            if family and any(file.file_name.endswith(".safetensors") for file in revision.files):
                is_pinned = (PIN if is_any_pinned else "main") in revision.refs
                name = ModelName(repo.repo_id, revision.commit_hash)
                found.append(CachedModel(name, family, revision.snapshot_path, revision.size_on_disk, is_pinned))
    return sorted(found, key=lambda model: (model.name.repo, not model.is_pinned, model.name.revision))


def family_of(folder: Path) -> str:
    """The family of a checkpoint. Raises ModelError for one we cannot run."""
    config, _ = read_config(folder / "config.json")
    return _FAMILY_NAMES[type(config)]


def _family(folder: Path) -> str:
    try:
        return family_of(folder)
    except ModelError:
        return ""


def _cached_folder(name: ModelName, file: str, wanted_by: ModelName | None = None) -> Path:
    """The folder in the cache that has `file`. Raises ModelError, naming the command that gets it."""
    from huggingface_hub import constants, try_to_load_from_cache  # half a second: only for models named so

    for revision in (name.revision,) if name.revision else (PIN, "main"):
        path = try_to_load_from_cache(name.repo, file, constants.HF_HUB_CACHE, revision)
        if isinstance(path, str):
            return Path(path).parent
    what = f"the tokenizer of {wanted_by}, {name}," if wanted_by else str(name)
    raise ModelError(f"{what} is not on this machine", f"longsearch model download {wanted_by or name}")
