"""The BERTs that longsearch is compared with and learns from."""
