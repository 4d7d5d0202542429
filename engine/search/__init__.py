"""From a query to ranked documents and the passages in them."""
