"""SETTINGS: what a person can set, where it is read, and what is in force.

`schema` is the one list of settings. `reading` says which value is in force: an environment variable wins over the
config file, the file over the default. `page` writes the list for the documentation and for a new config file. Options
of a command win over all of them; the commands see to that.
"""
