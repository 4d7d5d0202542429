"""USER DATA: the files of a person's own things: the basket, the history, the saved searches, the last state.

They lie in the data folder, not in the indexes, so they outlive every index. They can be read as JSON.
"""
