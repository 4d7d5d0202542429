"""SEARCH: answers every question about indexed folders: the command line, the app, agents and other programs ask here.

A `Scope` says where to search: one folder, or several as one.
"""
