"""INDEX: an open index as a search sees it: one object, one moment, whichever engine holds it.

`open_index` alone knows the engines. `Index` carries what a search asks of an index, and `backends` says what an engine
must answer. `sqlite` answers by segments, or by their slow twins, FTS5 and sqlite-vec.
`lance` answers by the tables of a store.
"""
