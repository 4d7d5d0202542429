"""A hub that needs no network, and a cache in the layout of Hugging Face's."""

import shutil
from pathlib import Path

from longsearch.engine.errors import ModelError
from longsearch.engine.models.hub import ModelName
from longsearch.engine.models.hub_download import RemoteFile, download

COMMIT, LATER = "a" * 40, "b" * 40
REPO = "dynatrace-oss/llama-embed-mamba2-7b"


class FakeHub:
    """A hub whose repositories are folders: `published[repo][commit]`. `fetch` copies a file into the cache."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        self.published: dict[str, dict[str, Path]] = {}
        self.main: dict[str, str] = {}
        self.fetched: list[str] = []
        self.n_bytes: dict[str, int] = {}
        """False sizes to report, by file name."""

    def publish(self, repo: str, commit: str, folder: Path) -> None:
        """Publish the files of a folder as the newest commit."""
        self.published.setdefault(repo, {})[commit] = folder
        self.main[repo] = commit

    def list_files(self, name: ModelName) -> tuple[str, list[RemoteFile]]:
        """See `engine.models.hub_download.Hub`."""
        commit = name.revision or self.main.get(name.repo, "")
        if commit not in self.published.get(name.repo, {}):
            raise ModelError(f"there is no public model {name}", "check the spelling")
        folder = self.published[name.repo][commit]
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        names = [path.relative_to(folder).as_posix() for path in files]
        sizes = [self.n_bytes.get(path.name, path.stat().st_size) for path in files]
        return commit, [RemoteFile(*file) for file in zip(names, sizes, strict=True)]

    def fetch(self, repo: str, commit: str, file: str) -> Path:
        """See `engine.models.hub_download.Hub`."""
        self.fetched.append(file)
        return put_in_cache(self.cache, repo, commit, self.published[repo][commit] / file)


def put_in_cache(cache: Path, repo: str, commit: str, file: Path, ref: str = "") -> Path:
    """Put a file into the cache as huggingface_hub does, but as a file where it makes a link to a blob."""
    folder = cache / f"models--{repo.replace('/', '--')}"
    snapshot = folder / "snapshots" / commit
    snapshot.mkdir(parents=True, exist_ok=True)
    (folder / "blobs").mkdir(exist_ok=True)
    if ref:
        (folder / "refs").mkdir(exist_ok=True)
        (folder / "refs" / ref).write_text(commit, "ascii")
    return Path(shutil.copy(file, snapshot / file.name))


def publish(hub: FakeHub, folder: Path, repo: str = REPO, commit: str = COMMIT) -> Path:
    """Publish a model together with files that a repository often holds and that longsearch does not want."""
    hub.publish(repo, commit, folder)
    for name in ("README.md", "pytorch_model.bin", "modeling_evil.py", "onnx/model.safetensors"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"?")
    return folder


def get(hub: FakeHub, name: str = REPO) -> list[str]:
    """Download a model and return the lines that were announced."""
    announced: list[str] = []
    download(ModelName.parse(name), hub, announced.append)
    return announced
