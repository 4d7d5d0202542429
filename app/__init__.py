"""WIRING: joins the other packages into a program. This page is the glossary and the architecture of longsearch.

Glossary (one word, one meaning)

    root            A folder that is indexed, with everything under it. A query means it by its name: `folder:NAME`.
    file            A path under a root. Its status is current, partial, waiting or failed.
    document        The text of a file, with its passages and vectors. Files with the same bytes share one document.
    passage         A span of a document, a few sentences long, that is shown as a result. It has a vector.
    excerpt         A sentence or two of a passage, with a vector of its own from the same pass over the document.
    index, store    The index is the SQLite file of one root. `Store` (engine.store) writes it. `open_index`
                    (engine.index) opens one moment of it, an `Index`, which carries all that a search asks of an index.
    state           What a recurrent model carries from token to token: in each layer the last inputs of the convolution
                    and the SSM state. From a saved state the model resumes a document in its middle.
    vertical chunk  `V`: the slice of tokens that passes through all layers before the next slice does.
    SSD block       `Q`: the block of tokens that Mamba2's scan handles at once in a layer (`chunk_size` in papers).
    readout         How hidden states become a vector: the last token's (`eos`), their mean (`mean`), the first and the
                    last one's (`contextual`), or that of tokens that the model makes itself (`generative`). The
                    shipped models have `mean`; `engine.papers` has the others.
    printed page    A page of a PDF as pdfium draws it, with its passages marked; the app shows it in place of the text.
    instruction     The sentence before a query that says what to look for. Documents are read without one.
    width           The fraction of a MatMamba model's heads that is run: 1, 1/2, 1/4 or 1/8. A document that was read
                    at less than 1 is *narrow*; to *deepen* it is to read it again at width 1.
    fingerprint     A hash of weights, tokenizer, readout, template and passage settings. Only vectors with the same
                    fingerprint are compared.
    similar         Documents are similar if their vectors are near. Each counts as a whole (`longsearch similar`).
    background      The scores that queries of random words reach in an index: what chance reaches. To measure it is to
                    calibrate the index.
    basket          The passages that a person keeps as *evidence*. It outlives the index (`app.user_data`).
    news            New passages that answer a saved search better than chance, since somebody last looked.
    shared store    LanceDB tables that hold the index of a root for many readers (`engine.index.lance`). The machine
                    that indexes writes the *working file*, an ordinary index, and then a *publication*: the versions of
                    all tables that belong together. A *pointer* is the small file here that names the shared store.
    object store    A source whose files have addresses, such as `s3://bucket/papers`. Its *stand-in*, a folder of this
                    machine, is the root of its index; files are downloaded into it when a person opens them.
    driver, worker  With a cluster (`app.cluster`): the process that a person started, which alone writes the index; and
                    those on other machines that extract texts and run the model.
    retry           Reading a failed file again. A root that could not be indexed is *postponed* instead.

Packages. Imports point down, and `import-linter` checks it:

    app > tui | indexer > engine

- `engine` (MEANING) turns text into vectors and finds it again: models, readouts, inference, store, index, search.
  `engine.papers` is imported only for a model that needs it, `engine.training` and `engine.evaluation` only by their
  commands.
- `indexer` (FRESHNESS) keeps an index equal to the disk: walk, ignore, plan, extract, watch.
- `tui` (SIGHT) is the terminal app. It imports no model, store or search of the engine.
- `app` (WIRING) holds the command line, the paths, the daemon, and the backend that answers the terminal app.

From a file to the index: The walk, or the listing of an object store (`indexer.sources`), lists the files, and the plan
compares them with the index. A child process, which may be killed, extracts the text. The words are stored and can be
searched at once. Then the tokens of the text pass through the model in vertical chunks, and the state is carried from
slice to slice. One transaction stores the vectors of the passages, of their excerpts and of the whole document.

Words: Each document has a language. English words are stemmed by FTS5, others by Snowball before they reach it, and
scripts without spaces become pairs of characters (`engine.languages`). A query's word is looked up in the form that
each language of the index gives it, unless it is a stop word of the query's language.

From a query to the results: BM25 scores passages by words, at once. The model encodes the query with its instruction,
and passages are scored by their vectors. These two scores are combined with the scores of the passage's nearest
excerpt and of its document. Results are grouped by document and shown at the page, with the passage lit and its excerpt
brighter. For "more like this", the document's vector is compared with those of the other documents.

Models: A folder has a model, its own or the default (`app.models.folder_models`). When that changes, the folder is read
into a second index file, and searches go on in the first until the second is complete. One model is in memory at a
time.

Processes: The terminal app never loads torch, and a child process draws printed pages for it. In a browser
(`longsearch serve`), each window has a process of its own, behind a server on the loopback address. Each user has one
daemon, which owns the model. It watches the folders, indexes them, and encodes queries that arrive over a local socket.
Every search reads the SQLite file directly, so a search by words works without a daemon, and so does the display of
progress.
"""
