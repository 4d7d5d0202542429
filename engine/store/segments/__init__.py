"""Segments: files beside the index that hold its words and its vectors as arrays, for fast searches.

A segment never changes. It holds some passages as they were when it was written: the *words* of some passages or the
*vectors* of some. The index itself says which segments count, which passages no segment has (*fresh*), and about which
passages a segment is wrong (*outdated*), and it changes this in the same transaction as the passages. So a reader that
sees the index at one moment knows exactly what its segments are worth at that moment.

Segments are a cache. Without them, or if one is missing, cut short or of another index, the search takes the slow twin:
FTS5 for words, sqlite-vec for vectors. The writer writes them anew when it next has time.
"""
