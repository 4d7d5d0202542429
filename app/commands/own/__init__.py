"""OWN: the commands for what a person keeps: the basket, the history of queries, the saved searches."""
