"""SETTINGS: what a person can set, where it is read, and what is in force.

`schema` is the one list of settings. `reading` answers what a setting is: an environment variable wins over the config
file, and that over the default. `page` writes the list for the documentation and for a new config file. Options of a
command win over all of them; the commands see to that.
"""
