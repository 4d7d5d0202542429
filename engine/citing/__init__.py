"""CITING: a passage as evidence, and the forms in which it is cited. Pure text; knows no index, file or screen."""
