"""SCANS: which folders' scanned pages are to be read, how long that takes here, and what was recognised before.

Knows no tesseract: `indexer.extract.pdf` calls it. `app.daemon.idle_work` does the reading.
"""
