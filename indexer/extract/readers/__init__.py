"""One module a format other than PDF, and the parts they share."""
