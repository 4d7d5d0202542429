"""MANY READERS: keeps an index in LanceDB tables on a shared disk or an object store, and searches it there.

An index that is written is an ordinary SQLite file, the *working file*. `publishing` brings the tables in step with it
and names the versions that belong together: a *publication*. A reader opens one publication and sees nothing else.
`fetching` makes a working file of the tables again. The extra `lance` has the libraries; nothing else imports them.
"""
