"""APP: joins the other packages into a program. This page is the glossary and the architecture of longsearch.

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

The house. Imports point down, and `import-linter` checks it: app > tui | indexer > engine.

`app` joins the other packages into a program. Its rooms stand on eight floors; a room imports only lower ones:

    8  commands     a module for each command: options in, exit code out
    7  backend      answers the terminal app's calls, over one folder or over all
       agents       the tools of the MCP server, which only read
    6  daemon       the process that watches folders, indexes them and encodes queries; how others start and ask it
       cluster      the same indexing by the workers of a Ray cluster
       viewing      a hit's file in its viewer, its printed pages, the map and the strip of its passages
       evidence     where kept passages stand now, how they are cited, and what is saved
    5  indexing     the one recipe that brings an index in step with the disk: `index_folder`
       search       the one service that answers questions, in a scope of one folder or several
    4  folders      names, presence, locks and stores of the indexed folders; how one is forgotten
    3  models       which model reads which folder; the one that this process holds, and its width
       user_data    the person's own files: basket, history, saved searches and their news
       cli          parses the command line and imports the one command that runs
    2  settings     what a person can set, and what is in force
    1  paths        where every file of longsearch lies
       options      what commands take, as data
       rpc          calls over a local socket
       web          the guarded server of `longsearch serve`

`tui` is the terminal app. It imports no model, store or search:

    screens, widgets, text (pure layout and wording), backend (the calls that `app.backend` answers), graphics

`indexer` keeps an index equal to the disk:

    walk, ignore, plan (pure), sources (folders, object stores), extract (a module for each format), pipeline, watch

`engine` knows what text means:

    models, readouts, inference     weights, how hidden states become vectors, documents and queries to vectors
    store, index                    the writer's SQLite file and its segments; an open index, of SQLite or LanceDB
    query_language, search          text to terms and filters; candidates, fusion, ranking, quotations, calibration
    languages, citing, types        languages of texts and words; forms of citation; the types that all share
    papers, training, evaluation    imported only for a model that needs them, and by their commands

The way of a document into the index. `index_folder` opens the index for writing (`open_pipeline`), under its lock.
`Pipeline.read` lists the files (`take_listing`, or the listing of an object store), compares them with the index
(`plan`) and has child processes, which may be killed, extract the texts (`ExtractorPool.extract_all`).
`Store.add_document` stores words: from then on they can be searched. `Pipeline.embed` passes the tokens through the
model in vertical chunks (`Encoder.stream_many`), and carries the state from slice to slice. One transaction stores the
vectors of the passages, of their excerpts and of the whole document. `calibrate_and_note_news` measures what chance
reaches and asks the saved searches. If the folder is to have another model, the same is done in a second index file,
and only then `finish_change` puts that in use.

The way of a query. A command, `AppBackend`, `Tools` or the Python door asks `app.search.searching.search` a `Question`
in a `Scope`. `opened` opens the index of each folder: `open_index` alone knows whether SQLite or LanceDB holds it.
`parse` reads the text once. `vectors_of` has the daemon, or a model opened here, encode it with its instruction.
`engine.search.searcher.search` takes the open indexes and the `SearchRequest`. BM25 scores passages by words, cosines
score them by meaning (`candidates`). One score is made of the two (`both`), of the passage's nearest excerpt and of its
document, and results are grouped by document (`group`). Title and names rank documents, not the passages of one
(`by_own_words`). `with_levels` says what is better than chance. A result is shown at its page, with the passage lit and
its excerpt brighter. For "more like this", the document's vector is compared with those of the other documents.

Words: Each document has a language. English words are stemmed by FTS5, others by Snowball before they reach it, and
scripts without spaces become pairs of characters (`engine.languages`). A query's word is looked up in the form that
each language of the index gives it, unless it is a stop word of the query's language.

Models: A folder has a model, its own or the default (`app.models.folder_models`). When that changes, the folder is read
into a second index file, and searches go on in the first until the second is complete. One model is in memory at a
time.

Processes: The terminal app never loads torch, and a child process draws printed pages for it. In a browser
(`longsearch serve`), each window has a process of its own, behind a server on the loopback address. Each user has one
daemon, which owns the model. It watches the folders, indexes them, and encodes queries that arrive over a local socket.
A plain install has no torch: there numpy reads (`engine.inference.numpy_encoder`).
Every search reads the SQLite file directly, so a search by words works without a daemon, and so does the display of
progress.
"""
