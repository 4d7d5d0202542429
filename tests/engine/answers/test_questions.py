"""A fixed list of questions over five short texts among the samples: how many get the sentence that answers.

They are asked by words, which is quick, and no vector chooses a sentence. The answer is the lit sentence of the first
document, as the list in the app shows it, with its heading.
"""

import shutil
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

import longsearch
from longsearch.app.cli import main
from longsearch.app.search.python_door import Index

HERE = Path(__file__).parent
ASKED = [
    (*line.split(" | "), name)
    for name in ("questions_other.txt",)
    for line in (HERE / name).read_text("utf-8").splitlines()
]
"""(document, question, words of the sentence that answers, list)"""
MOST_THAT_FAIL = {"questions_other.txt": 2}
"""As many as failed on the day when the list was written, 26 November 2026. Never raise them."""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """One index of all texts, read by the bundled model."""
    home = tmp_path_factory.mktemp("home")
    root = home / "texts"
    with resources.as_file(resources.files("longsearch.assets") / "samples") as samples:
        shutil.copytree(samples, root)
    for text in (HERE / "texts").iterdir():
        shutil.copy(text, root)
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "HOME"):
            patch.setenv(variable, str(home / variable))
            (home / variable).mkdir(mode=0o700)
        assert main(["index", str(root), "-q"]) == 0
        yield longsearch.open_index(root)


@pytest.mark.parametrize("name", MOST_THAT_FAIL)
def test_the_questions_get_the_sentences_that_answer(index: Index, name: str) -> None:
    missed = []
    for document, question, words, own in ASKED:
        if own != name:
            continue
        hit = index.search(question, k=1, mode="words").answers_first().hits[0]
        best = hit.passages[0]
        whole = index.text(hit.document_id)
        wanted = [one.replace("\\n", " ") for one in words.split("\\|")]
        is_right = Path(hit.path).stem == document and any(one in " ".join(best.sentence.split()) for one in wanted)
        if not is_right:
            missed.append((question, Path(hit.path).stem, best.sentence))
        elif best.excerpt is not None:
            assert best.heading == whole.heading_at(best.excerpt[0])
    assert len(missed) <= MOST_THAT_FAIL[name], missed
