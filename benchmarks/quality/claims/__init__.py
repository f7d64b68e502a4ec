"""Claims over forty documents, with judges that lie about them."""
