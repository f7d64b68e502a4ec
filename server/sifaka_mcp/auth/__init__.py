"""Access over HTTP: by tokens of a file, or of an authorization server."""
