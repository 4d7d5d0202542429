"""FOLDERS: the indexed folders of a person: names, presence, locks, stores, and how one is forgotten."""
