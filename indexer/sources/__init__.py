"""SOURCES: where the files of an index lie: a folder of this machine, or an object store."""
