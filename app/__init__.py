"""WIRING: the room that joins the others into a program.

longsearch is four packages; imports point down, and `import-linter` holds this:

    app > tui | indexer > engine

- `engine` (MEANING) knows what text means: models, inference, the store of vectors and words, search.
- `indexer` (FRESHNESS) knows what lies on the disk: walk, ignore, plan, extract, watch.
- `tui` (SIGHT) shows it in a terminal; of the engine it knows only `types`, `errors` and `printable`.
- `app` joins them: command line, paths, library, daemon, doctor.

The way of a document: file -> walk -> plan -> extract (in a child process that may be killed) -> words searchable at
once -> token stream -> vertical chunks through a Mamba2 whose state is carried -> vectors of passages, of the excerpts
in them (a sentence or two each) and of the document -> one transaction in the store.

The way of a query: text -> passages by BM25 (at once) and passages by vector (with the query's instruction) -> their
scores combined, a passage's with its nearest excerpt's and its document's -> grouped by document -> shown at the page,
with the passage lit and the excerpt brighter. More like this: a document's own vector takes the place of the query's,
and is compared with those of the other documents.

Processes: the terminal app never loads torch. A daemon, one a user, owns the model: it watches the folders, indexes
them, and turns queries into vectors over a Unix socket. The index is read straight from its SQLite file by whoever
searches, so words can be searched, and progress seen, with the daemon dead.
"""
