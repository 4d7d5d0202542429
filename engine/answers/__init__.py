"""ANSWERS: which sentence of a passage answers a query. Knows no index and no file of one.

A sentence is chosen by late interaction (Khattab and Zaharia, "ColBERT", SIGIR 2020) over the table of token vectors of
the model in use: no layer runs, so fifty passages take milliseconds.
"""
