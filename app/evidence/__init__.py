"""EVIDENCE: kept passages and the indexes: where a passage stands now, and under which key others know its document."""
