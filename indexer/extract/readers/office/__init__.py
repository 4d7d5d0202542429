"""A module for each kind of office file except Word's: slides, OpenDocument, RTF, spreadsheets, tables, notebooks."""
