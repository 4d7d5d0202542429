"""ELSEWHERE: what another engine answers for an index whose passages, texts and vectors it holds instead of SQLite."""
