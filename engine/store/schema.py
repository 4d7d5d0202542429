"""The tables, as an append-only list of migrations. `user_version` is the number of applied migrations.

The table of documents is called `contents`, and a document's id `content_id`, for historical reasons: released
migrations never change. `resume_points` holds the saved states. The two vector tables are not here, because the model
decides their dimension: `vectors.use_model` creates them. Longer than 260 lines because migrations are only appended.
"""

from collections.abc import Sequence

import apsw

from longsearch.engine.errors import StoreError

_V1 = """
-- root (bytes of the absolute path), fingerprint, dim, writer (pid of a writer that has not closed)
CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;

-- What files hold, keyed by the hash of their bytes: a rename or a copy costs nothing. Ids are never used again
-- (AUTOINCREMENT), so that an id on somebody's screen cannot come to mean another document.
CREATE TABLE contents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    hash BLOB NOT NULL UNIQUE,
    title TEXT NOT NULL,
    n_chars INTEGER NOT NULL,
    n_pages INTEGER NOT NULL,
    n_tokens INTEGER NOT NULL,
    partial_reason TEXT NOT NULL,
    hint TEXT NOT NULL,
    headings TEXT NOT NULL,     -- JSON [[level, title, start], ...]
    page_starts TEXT NOT NULL   -- JSON [0, ...]
) STRICT;

-- UTF-8 (surrogates passed), zlib, 65,536 characters each: a passage is read without unpacking 10 MB.
CREATE TABLE text_parts (
    content_id INTEGER NOT NULL REFERENCES contents,
    ordinal INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (content_id, ordinal)
) STRICT;

CREATE TABLE files (
    path BLOB PRIMARY KEY,      -- bytes, relative to the root: names need not be UTF-8
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,     -- two's complement: some file systems use all 64 bits
    content_id INTEGER REFERENCES contents,
    reason TEXT NOT NULL,       -- why there is no content
    hint TEXT NOT NULL,
    CHECK ((content_id IS NULL) = (reason <> ''))
) STRICT, WITHOUT ROWID;
CREATE INDEX files_by_content ON files (content_id);

CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    content_id INTEGER NOT NULL REFERENCES contents,
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    n_tokens INTEGER NOT NULL,
    page INTEGER,               -- that holds the passage's middle
    UNIQUE (content_id, ordinal)
) STRICT;

-- rowid = passages.id. Contentless: the text is in text_parts already, and external content corrupts silently.
-- Stemming: nDCG@10 of BM25 rose in nine of ten English sets (.44 to .50, .69 to .72, ...), fell in one (.57 to .55).
CREATE VIRTUAL TABLE words USING fts5(
    text, title, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2'
);

CREATE TABLE embeddings (
    content_id INTEGER PRIMARY KEY REFERENCES contents,
    n_passages_done INTEGER NOT NULL,
    n_tokens_done INTEGER NOT NULL,
    done INTEGER NOT NULL CHECK (done IN (0, 1)),
    state BLOB,
    CHECK (NOT (done AND state IS NOT NULL))
) STRICT;

CREATE TABLE activity (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    text TEXT NOT NULL,
    tokens_per_s REAL NOT NULL,
    updated_at REAL NOT NULL,   -- seconds since 1970
    pid INTEGER NOT NULL
) STRICT;

CREATE VIEW content_progress AS
SELECT
    contents.id AS content_id, n_pages, n_tokens, partial_reason, contents.hint AS hint,
    coalesce(done, 0) AS done,
    iif(coalesce(done, 0), n_tokens, min(n_tokens, coalesce(n_tokens_done, 0))) AS n_tokens_embedded
FROM contents LEFT JOIN embeddings ON embeddings.content_id = contents.id;

CREATE VIEW file_states AS
SELECT
    path,
    CASE WHEN files.content_id IS NULL THEN 'failed'
         WHEN NOT done THEN 'waiting'
         WHEN partial_reason <> '' THEN 'partial'
         ELSE 'current' END AS state,
    coalesce(partial_reason, reason) AS reason,
    coalesce(content_progress.hint, files.hint) AS hint,
    coalesce(n_pages, 0) AS n_pages,
    coalesce(n_tokens, 0) AS n_tokens,
    coalesce(n_tokens_embedded, 0) AS n_tokens_embedded
FROM files LEFT JOIN content_progress USING (content_id);
"""

_V2 = """
-- States in the middle of finished documents, to go on from when text is added. Not in `embeddings`: there a state is
-- where an unfinished document stands, and goes with every step.
CREATE TABLE resume_points (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- higher: kept later
    content_id INTEGER NOT NULL UNIQUE REFERENCES contents,
    n_passages_done INTEGER NOT NULL,
    n_tokens_done INTEGER NOT NULL,
    state BLOB NOT NULL
) STRICT;
"""

_V3 = """
-- When a file that could not be read is read again by itself. What failed before this was known is tried once more.
ALTER TABLE files ADD COLUMN n_failures INTEGER NOT NULL DEFAULT 0;   -- readings in a row
ALTER TABLE files ADD COLUMN retry_at REAL;   -- seconds since 1970; NULL: only once it has changed
UPDATE files SET n_failures = 1, retry_at = 0 WHERE content_id IS NULL;
"""

_V4 = """
-- Whether `title` is a file's name, because the document has no title. It then changes with that name.
-- Older documents keep their title.
ALTER TABLE contents ADD COLUMN title_is_name INTEGER NOT NULL DEFAULT 0 CHECK (title_is_name IN (0, 1));
"""

_V5 = """
-- Of passages of more than one excerpt: a record each (see `excerpts`). An index from before is embedded anew, as the
-- fingerprint names the rule for cutting them.
CREATE TABLE excerpt_vectors (
    passage_id INTEGER PRIMARY KEY REFERENCES passages,
    vectors BLOB NOT NULL
) STRICT;
"""

_V6 = """
-- The part of a nested model's heads that made the vectors. Before this was known, all heads did.
ALTER TABLE embeddings ADD COLUMN width REAL NOT NULL DEFAULT 1.0 CHECK (width > 0 AND width <= 1);
ALTER TABLE resume_points ADD COLUMN width REAL NOT NULL DEFAULT 1.0 CHECK (width > 0 AND width <= 1);

-- Complete documents of a smaller width that are being read again at width 1, and where this reading stands. Passages
-- before n_passages_done have their new vectors in place of the old ones, the others still have the old ones.
CREATE TABLE deepenings (
    content_id INTEGER PRIMARY KEY REFERENCES contents,
    n_passages_done INTEGER NOT NULL,
    n_tokens_done INTEGER NOT NULL,
    state BLOB NOT NULL
) STRICT;
"""

_V7 = """
-- The ISO 639 code of the language that most of a document is in, "" if it is unclear. The words of a document are
-- indexed by its language. NULL: the words are from before that, as if it were English; `store.languages` mends it.
ALTER TABLE contents ADD COLUMN language TEXT;
CREATE INDEX contents_by_language ON contents (language);
"""

_V8 = """
-- Files beside the index that hold words or vectors as arrays (see `segments`). A higher number is later.
CREATE TABLE segments (
    kind TEXT NOT NULL,
    number INTEGER NOT NULL,
    token TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (kind, number)
) STRICT, WITHOUT ROWID;

-- Passages, or documents, that no segment has as they are now.
CREATE TABLE fresh_ids (
    kind TEXT NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

-- Passages, or documents, that have gone or changed: segments up to this number are wrong about them.
CREATE TABLE outdated_ids (
    kind TEXT NOT NULL,
    id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
"""

_V9 = """
-- What documents say of themselves, the most trustworthy value of a field first (see `metadata`).
CREATE TABLE metadata (
    content_id INTEGER NOT NULL REFERENCES contents,
    ordinal INTEGER NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    words TEXT NOT NULL,     -- the value as it is compared: " geoffrey hinton "; of a date its first and last day
    source TEXT NOT NULL,
    of_file INTEGER NOT NULL CHECK (of_file IN (0, 1)),   -- whether the value follows the name or time of a file
    PRIMARY KEY (content_id, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX metadata_by_words ON metadata (field, words, content_id);

-- The rules by which the metadata were read; 0: not yet.
ALTER TABLE contents ADD COLUMN metadata_version INTEGER NOT NULL DEFAULT 0;
CREATE INDEX contents_by_metadata_version ON contents (metadata_version);
"""

_V10 = """
-- Pages of a file that show something and have no text: OCR could read them. In files that failed or are partial, what
-- the reason says; an older longsearch did not count the others.
ALTER TABLE files ADD COLUMN n_scanned INTEGER NOT NULL DEFAULT 0;
UPDATE files SET n_scanned = max(1, CAST(replace(substr(reason, length('no text in ') + 1), ',', '') AS INTEGER))
WHERE reason LIKE 'no text in %(scanned?)';
UPDATE files SET n_scanned = max(1, (
    SELECT CAST(replace(substr(partial_reason, length('no text in ') + 1), ',', '') AS INTEGER)
    FROM contents WHERE contents.id = content_id))
WHERE content_id IN (SELECT id FROM contents WHERE partial_reason LIKE 'no text in %(scanned?)');
UPDATE files SET n_scanned = 1 WHERE reason LIKE '%which letters they show%' OR content_id IN (
    SELECT id FROM contents WHERE partial_reason LIKE '%which letters they show%');

-- The pages whose text is from OCR: JSON [1, ...]
ALTER TABLE contents ADD COLUMN ocr_pages TEXT NOT NULL DEFAULT '[]';
"""

_V11 = """
-- Another number after every change of the files' names and documents: a search keeps which documents a filter admits.
INSERT INTO meta VALUES ('files_version', random());
CREATE TRIGGER files_come AFTER INSERT ON files BEGIN
    UPDATE meta SET value = random() WHERE key = 'files_version';
END;
CREATE TRIGGER files_go AFTER DELETE ON files BEGIN
    UPDATE meta SET value = random() WHERE key = 'files_version';
END;
CREATE TRIGGER files_change AFTER UPDATE OF path, content_id ON files BEGIN
    UPDATE meta SET value = random() WHERE key = 'files_version';
END;

-- Every search counts the documents that wait for their vectors.
CREATE INDEX embeddings_unfinished ON embeddings (content_id) WHERE NOT done;
"""

_V12 = """
-- Words are indexed again: English ones with the parts of code names (getUserName), Hebrew and Bengali ones by their
-- stems. NULL asks for that.
UPDATE contents SET language = NULL WHERE language IN ('', 'en', 'he', 'bn');
"""

_V13 = """
-- The version of the reader that read a file. A file of a format whose reader has learnt more since is read again.
ALTER TABLE files ADD COLUMN reader_version INTEGER NOT NULL DEFAULT 0;
"""

_V14 = """
-- The numbers or names that are printed on the pages of a document, where the file says them.
ALTER TABLE contents ADD COLUMN page_labels TEXT NOT NULL DEFAULT '[]';   -- JSON ["i", "ii", "1", ...]
"""

_V15 = """
-- The rules by which a document's words are indexed: words of older rules are indexed again (see `store.languages`).
ALTER TABLE contents ADD COLUMN words_version INTEGER NOT NULL DEFAULT 0;
CREATE INDEX contents_by_words_version ON contents (words_version);

-- The names of a document beside its title: JSON [[path, ...], [identifier, ...]]
ALTER TABLE contents ADD COLUMN names TEXT NOT NULL DEFAULT '[[], []]';
"""

_V16 = """
-- The parts of a document that only point elsewhere, as JSON (see `store.furniture`). NULL: not looked for yet.
ALTER TABLE contents ADD COLUMN furniture TEXT;
-- A search asks for those of 200 documents: their rows are long, the rows of this index are not.
CREATE INDEX contents_by_furniture ON contents (id, furniture) WHERE furniture IS NOT '[]';
"""

_V17 = """
-- When a file last changed in any way, its name and rights included, where the system says it; 0: unknown. A file that
-- is replaced by one of the same size and time differs in this alone.
ALTER TABLE files ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT 0;
"""

_V18 = """
-- Vectors are of int8 (see `vec0.storage_chunks`). Older ones are of float32; they become int8 later, piece by piece.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'vec0(embedding float[', 'vec0(embedding int8[')
WHERE name IN ('passage_vectors', 'document_vectors');
PRAGMA writable_schema = RESET;
"""

_V19 = """
-- What people marked and noted in a document, as JSON: [[kind, start, stop, quote, note, author, colour], ...]
ALTER TABLE contents ADD COLUMN marks TEXT NOT NULL DEFAULT '[]';
"""

_V20 = """
-- Excerpts have two bits a coordinate (see `excerpts`). Those that have four get two piece by piece, later.
INSERT INTO meta SELECT 'old_excerpts', 0 WHERE EXISTS (SELECT 1 FROM excerpt_vectors);
"""

_V21 = """
-- A page of words and its record take a page of the file, which has eight bytes for its checksum; one of 4,050 bytes
-- takes two. Words that are there are written anew piece by piece, later.
INSERT INTO words (words, rank) VALUES ('pgsz', 4045);
INSERT INTO meta SELECT 'old_words', 0 WHERE EXISTS (SELECT 1 FROM words_docsize);
"""

_V22 = """
-- Excerpts may be kept as differences from their passages (see `excerpts`): an older longsearch would misread them.
"""

MIGRATIONS: tuple[str, ...] = (
    *(_V1, _V2, _V3, _V4, _V5, _V6, _V7, _V8, _V9, _V10, _V11, _V12, _V13, _V14, _V15, _V16),
    _V17,
    _V18,
    _V19,
    _V20,
    _V21,
    _V22,
)
"""Append only: a script that has been released is never edited."""


def check_version(db: apsw.Connection, migrations: Sequence[str] = MIGRATIONS) -> int:
    """Return the file's schema version. Raises StoreError if it is newer than these migrations."""
    version = int(db.pragma("user_version"))
    if version > len(migrations):
        raise StoreError(
            f"The index was written by a newer longsearch (schema {version}, this one knows {len(migrations)})",
            f"Update longsearch, or delete {db.filename} and index again",
        )
    return version


def migrate(db: apsw.Connection, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Apply all missing migrations in one transaction: nobody sees a new index with an old schema."""
    version = check_version(db, migrations)
    if version == len(migrations):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        for script in migrations[version:]:
            db.execute(script)
        db.pragma("user_version", len(migrations))
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
