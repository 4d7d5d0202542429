"""Excel workbooks: what Excel shows in each cell, and what lies beside the cells."""
