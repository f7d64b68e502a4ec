"""Who may use the server over HTTP: holders of tokens of a file, or of an authorization server."""
