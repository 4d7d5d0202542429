"""Books that are neither PDF nor EPUB: FB2, DjVu, MOBI."""
