"""Makes pairs from folders of text: headings with sections, comments with code, questions with answers.

It reads Markdown; Python, by its syntax tree; other languages, by their comments; and tables of questions and answers
(`posts`). It uses no tokenizer and no model.
"""

import ast
import html
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from longsearch.engine.errors import LongsearchError
from longsearch.engine.training.data.pairs import Pair
from longsearch.engine.training.data.posts import may_hold_posts, read_posts

MAX_PASSAGE_WORDS, MAX_CODE_WORDS, MAX_QUERY_WORDS = 220, 160, 40
_DOCUMENTATION = (".md", ".mdx", ".markdown")
_CODE = (".rs", ".go", ".ts", ".js", ".java", ".c", ".cc", ".cpp", ".h", ".hpp", ".rb")
_SMALLEST, _LARGEST = 200, 300_000  # bytes of a file: smaller ones teach nothing, larger ones are generated
_LEAST_WORDS = 20  # of a section
_RUN_WORDS = 25
_PAIRS_A_FILE = 12  # of comments and code: more from one file repeat each other
_QUESTION = re.compile(r"^(how|what|why|when|where|who|which|can|is|are|do|does|should|could|will|may)\b", re.I)
_FRONT_MATTER = re.compile(r"^---\n(.*?)\n---\n", re.S)
_TITLE = re.compile(r"^(?:title|question):\s*['\"]?(.*?)['\"]?\s*$", re.M)
_HEADING = re.compile(r"^(#{1,5})\s+(.+?)\s*#*\s*$", re.M)
_COMMENT = re.compile(
    r"((?:^[ \t]*(?://[/!]?|#(?=\s)|\*|/\*\*?).*\n){1,25})((?:^[^\n]*\S[^\n]*\n|\n(?=[ \t]+\S)){3,45})", re.M
)
_NAME = re.compile(
    r"\b(?:fn|func|function|class|struct|enum|trait|def|interface|impl|void|int|static|public|const)"
    r"\s+(?:\([^)]*\)\s*)?\*?([A-Za-z_]\w{3,})"
)
_MARKS = (
    (re.compile(r"<!--.*?-->", re.S), " "),
    (re.compile(r"!\[[^\]]*\]\([^)]*\)"), " "),  # images
    (re.compile(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])"), r"\1"),  # links
    (re.compile(r"<[^>\n]{1,200}>"), " "),
    (re.compile(r"[*_]{2,}|^>\s?|:::.*$|^\|[-| :]+\|$", re.M), ""),
    (re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{:.*?\}"), " "),  # templates
    (re.compile(r"\n\s*\n+"), "\n\n"),
    (re.compile(r"[ \t]+"), " "),
)


def harvest(folder: Path, source: str, seed: int = 0) -> Iterator[Pair]:
    """Yield all pairs of a folder's files, or of one file, in an order drawn by `seed`.

    Raises LongsearchError if `folder` does not exist.
    """
    paths = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else [folder]
    if not folder.exists():
        raise LongsearchError(
            f"{folder} does not exist", "give a folder of Markdown, code or tables of posts, or a Posts.xml"
        )
    draw, titles = np.random.default_rng(seed), _titles(paths)
    for path in (paths[i] for i in draw.permutation(len(paths))):
        name = path.relative_to(folder).as_posix() if folder.is_dir() else path.name
        for query, passage, kind, document in _pairs_of(path, draw, titles):
            yield Pair(_first_words(query, MAX_QUERY_WORDS), passage, kind, source, document or name)


def word_runs(texts: Iterable[str]) -> set[int]:
    """Return the hashes of all runs of 25 words. Two texts with a run in common count as copies."""
    runs: set[int] = set()
    for text in texts:
        words = re.findall(r"\w+", text.lower())
        runs.update(hash(tuple(words[i : i + _RUN_WORDS])) for i in range(len(words) - _RUN_WORDS + 1))
    return runs


def _titles(paths: Iterable[Path]) -> dict[tuple[Path, str], str]:
    """Return the questions' titles by folder and thread: a folder holds one site, with ids of its own."""
    return {
        (p.parent, post.thread): post.title for p in paths if may_hold_posts(p) for post in read_posts(p) if post.title
    }


def _pairs_of(
    path: Path, draw: np.random.Generator, titles: Mapping[tuple[Path, str], str]
) -> Iterator[tuple[str, str, str, str]]:
    """Yield (query, passage, kind, document) for each pair; document "" means the file."""
    if may_hold_posts(path):
        yield from _posts(path, titles)
        return
    suffix = path.suffix.lower()
    if suffix not in (*_DOCUMENTATION, *_CODE, ".py") or not _SMALLEST < path.stat().st_size < _LARGEST:
        return
    text = path.read_text("utf-8", "replace")
    read = _sections(text) if suffix in _DOCUMENTATION else (_python if suffix == ".py" else _commented)(text, draw)
    for query, passage, kind in read:
        yield query, passage, kind, ""


def _sections(text: str) -> Iterator[tuple[str, str, str]]:
    title, front = "", _FRONT_MATTER.match(text)
    if front:
        in_front = _TITLE.search(front[1])
        title, text = in_front[1] if in_front else "", text[front.end() :]
    parts = _HEADING.split(text)
    sections = [(title, parts[0]), *zip(parts[2::3], parts[3::3], strict=True)]
    if not title and len(sections) > 1:
        title = sections[1][0]
    for raw_heading, raw_body in sections:
        heading, body = _plain(raw_heading).strip("`# "), _plain(raw_body)
        if not heading or len(body.split()) < _LEAST_WORDS or not _is_english(body):
            continue
        alone = len(heading.split()) > 3 or raw_heading == title or not title
        kind = "question2answer" if heading.endswith("?") or _QUESTION.match(heading) else "heading2section"
        yield heading if alone else f"{_plain(title)}: {heading}", _first_words(body, MAX_PASSAGE_WORDS), kind


def _python(text: str, draw: np.random.Generator) -> Iterator[tuple[str, str, str]]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines = text.splitlines()
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        said, end = ast.get_docstring(node), node.end_lineno or node.lineno
        if not said or len(said.split()) < 4:
            continue
        code = lines[node.lineno - 1 : min(end, node.lineno + 60)]
        if draw.random() < 0.5:  # leave out the docstring: the query holds it
            first = node.body[0]
            after = first.end_lineno or first.lineno
            code = lines[node.lineno - 1 : first.lineno - 1] + lines[after : min(end, after + 60)]
        if len(code) > 2:
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            query = _question(node.name, said.split("\n\n")[0].replace("\n", " "), kind, draw)
            yield query, _first_words("\n".join(code), MAX_CODE_WORDS), "comment2code"


def _commented(text: str, draw: np.random.Generator) -> Iterator[tuple[str, str, str]]:
    taken = 0
    for match in _COMMENT.finditer(text):
        bare = re.sub(r"^[ \t]*(?://[/!]?|#|\*/?|/\*\*?)[ \t]?", "", match[1], flags=re.M)
        bare = re.sub(r"\{@\w+ ([^}]*)\}|@\w+", r"\1", bare)
        comment = _plain(bare.split("\n\n")[0]).replace("\n", " ")
        if not 4 <= len(comment.split()) <= 60 or "opyright" in comment or "icense" in comment:
            continue
        name = _NAME.search(match[2])
        kind = "type" if name and re.search(r"class|struct|enum|trait|interface", name[0]) else "function"
        query = _question(name[1], comment, kind, draw) if name else comment
        code = match[2] if draw.random() < 0.5 else match[1] + match[2]
        yield query, _first_words(code, MAX_CODE_WORDS), "comment2code"
        taken += 1
        if taken == _PAIRS_A_FILE:
            return


def _question(name: str, said: str, kind: str, draw: np.random.Generator) -> str:
    """Return a query for this code: its comment in half of the cases, else a question made from its name."""
    said, spoken = re.sub(r"[`*]", "", said), re.sub(r"_+|(?<=[a-z])(?=[A-Z])", " ", name).strip().lower()
    questions = (
        f"What is the purpose of the {name} {kind}?",
        f"How does `{name}` work?",
        f"{spoken} {kind}",
        f"Where is {spoken} implemented?",
        f"What does {name} do? {_first_words(said, 12)}",
    )
    return said if draw.random() < 0.5 else questions[int(draw.integers(len(questions)))]


def _posts(path: Path, titles: Mapping[tuple[Path, str], str]) -> Iterator[tuple[str, str, str, str]]:
    for post in read_posts(path):
        title = _plain(titles.get((path.parent, post.thread), ""))
        body = _plain(re.sub(r"</p>|<br\s*/?>|</li>", "\n", post.body))
        if title and (post.title or post.is_upvoted) and len(body.split()) >= _LEAST_WORDS and _is_english(body):
            kind = "question2question" if post.title else "question2answer"
            yield title, _first_words(body, MAX_PASSAGE_WORDS), kind, post.thread


def _is_english(text: str) -> bool:
    """Guess from the share of ASCII characters: most other languages have letters outside ASCII."""
    return sum(c.isascii() for c in text) >= 0.95 * len(text)


def _plain(markdown: str) -> str:
    for mark, instead in _MARKS:
        markdown = mark.sub(instead, markdown)
    return html.unescape(markdown).strip()


def _first_words(text: str, n: int) -> str:
    return " ".join(text.split(" ")[:n])
