"""Downloads a model by its name: only the configuration, the tokenizer and the safetensors of one commit.

No other module of longsearch contacts the Hugging Face hub, and this one does so only when a person asks for it. It
fetches file by file, because huggingface_hub's `snapshot_download(dry_run=True)` would save a few lines but none of the
checks, has one error for a missing model and for no network, and moves the ref `main`, which other programs share.
"""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from longsearch.engine.errors import ModelError
from longsearch.engine.models.config import read_config
from longsearch.engine.models.hub import PIN, WORLD_VOCABULARY, ModelName, tokenizer_lender
from longsearch.engine.models.weight_files import indexed_files

Answer = TypeVar("Answer")
INDEX = "model.safetensors.index.json"
_SMALL_FILES = ("config.json", INDEX, "vocab.txt", "merges.txt", "tokenizer.model", WORLD_VOCABULARY)
_TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
)
_READABLE_TOKENIZERS = {"tokenizer.json", "tokenizer.model", "vocab.json", WORLD_VOCABULARY}
_OTHER_CONVERSIONS = "longsearch reads only safetensors; look for a conversion, such as AntonV/mamba2-130m-hf"


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a repository."""

    name: str
    n_bytes: int


class Hub(Protocol):
    """The calls to the hub that a download makes; tests have a hub of their own."""

    def list_files(self, name: ModelName) -> tuple[str, list[RemoteFile]]:
        """Return the commit that `name` means now, and its files. Raises ModelError, also if there is no network."""

    def fetch(self, repo: str, commit: str, file: str) -> Path:
        """Download a file into the cache, with a progress bar, and return its path. Raises ModelError."""


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A model that was downloaded."""

    name: ModelName
    """Its revision is the commit that the name without a revision means from now on."""
    folder: Path
    n_bytes: int


def download(name: ModelName, hub: Hub, announce: Callable[[str], None]) -> Downloaded:
    """Download a model into the cache and pin its name to the commit.

    Raises ModelError before it fetches weights if longsearch does not run the model's family, or if the model has no
    safetensors, has no tokenizer that can be read, or does not fit on the disk.
    """
    commit, remote = hub.list_files(name)
    files = {file.name: file for file in remote}
    if "config.json" not in files:
        raise ModelError(f"{name} has no config.json", "longsearch cannot run it")
    folder = hub.fetch(name.repo, commit, "config.json").parent
    read_config(folder / "config.json")
    lender = tokenizer_lender(name)
    if not (lender or files.keys() & _READABLE_TOKENIZERS):
        raise ModelError(
            f"{name} has no tokenizer that can be read", f"longsearch reads tokenizer.json and {WORLD_VOCABULARY}"
        )
    if INDEX in files:
        hub.fetch(name.repo, commit, INDEX)
    wanted = [file for file in remote if file.name in {*_SMALL_FILES, *_TOKENIZER_FILES} - {"config.json", INDEX}]
    wanted += _weights(name, remote, folder)
    n_bytes = sum(file.n_bytes for file in wanted)
    _check_space(folder, n_bytes)
    announce(f"{name.repo} at {commit[:12]}: {len(wanted)} files, {n_bytes / 1e6:,.0f} MB")
    for file in wanted:
        hub.fetch(name.repo, commit, file.name)
    if lender and "tokenizer.json" not in files:
        _fetch_tokenizer(lender, hub, announce)
    _pin(folder, commit)
    return Downloaded(ModelName(name.repo, commit), folder, n_bytes)


def _weights(name: ModelName, remote: Sequence[RemoteFile], folder: Path) -> list[RemoteFile]:
    """Return the safetensors to fetch: only those of the index, if any, as some repositories hold the weights twice."""
    files = [file for file in remote if file.name.endswith(".safetensors") and "/" not in file.name]
    if not files:
        raise ModelError(f"{name} has no safetensors", _OTHER_CONVERSIONS)
    if (folder / INDEX).exists():
        named = indexed_files(folder / INDEX)
        files = [file for file in files if file.name in named]
        if len(files) < len(named):
            raise ModelError(f"{name} lacks files that its index names", "the published model is damaged")
    return files


def _check_space(folder: Path, n_bytes: int) -> None:
    free = shutil.disk_usage(folder).free
    if n_bytes > free:
        hint = "free some space, or set HF_HUB_CACHE to a folder on another disk"
        raise ModelError(f"{n_bytes / 1e9:.1f} GB do not fit: {free / 1e9:.1f} GB are free at {folder}", hint)


def _fetch_tokenizer(lender: ModelName, hub: Hub, announce: Callable[[str], None]) -> None:
    commit, remote = hub.list_files(lender)
    announce(f"its tokenizer comes from {lender.repo}")
    folder = None
    for file in remote:
        if file.name in _TOKENIZER_FILES:
            folder = hub.fetch(lender.repo, commit, file.name).parent
    if folder is None:
        raise ModelError(f"{lender} no longer has a tokenizer", "copy a tokenizer.json beside the model's config.json")
    _pin(folder, commit)


def _pin(snapshot: Path, commit: str) -> None:
    """Write the ref `longsearch`, for which Hugging Face's tools keep the commit when they prune the cache."""
    refs = snapshot.parents[1] / "refs"
    refs.mkdir(exist_ok=True)
    (refs / PIN).write_text(commit, "ascii")


class HuggingFaceHub:
    """The real hub."""

    def list_files(self, name: ModelName) -> tuple[str, list[RemoteFile]]:
        """See `Hub`."""
        from huggingface_hub import HfApi

        info = _answer(
            name.repo, lambda: HfApi().model_info(name.repo, revision=name.revision or None, files_metadata=True)
        )
        return str(info.sha), [RemoteFile(file.rfilename, file.size or 0) for file in info.siblings or ()]

    def fetch(self, repo: str, commit: str, file: str) -> Path:
        """See `Hub`. The progress bar is Hugging Face's own, on stderr."""
        from huggingface_hub import hf_hub_download

        return Path(_answer(repo, lambda: hf_hub_download(repo, file, revision=commit)))


def _answer(repo: str, ask: Callable[[], Answer]) -> Answer:
    """Return the hub's answer. Raises ModelError in place of the hub's many errors."""
    # HTTPError belongs to huggingface_hub's HTTP client, which has changed before and may change again
    from huggingface_hub.errors import GatedRepoError, HTTPError, RepositoryNotFoundError, RevisionNotFoundError  # type: ignore[attr-defined]

    try:
        return ask()
    except GatedRepoError as error:
        hint = f"accept its terms at https://huggingface.co/{repo}, then: hf auth login"
        raise ModelError(f"{repo} is open only to people who accepted its terms", hint) from error
    except RevisionNotFoundError as error:
        raise ModelError(
            f"{repo} has no such revision", "leave out @REVISION, or look for it on the model's page"
        ) from error
    except RepositoryNotFoundError as error:
        raise ModelError(f"there is no public model {repo} on the Hugging Face hub", "check the spelling") from error
    except (HTTPError, OSError, ValueError) as error:  # no network, no space, no permission
        hint = "run the same command again: what was downloaded is kept"
        raise ModelError(f"{repo} could not be downloaded: {error}", hint) from error
