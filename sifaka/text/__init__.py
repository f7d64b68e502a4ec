"""Reading texts: words, sentences, Markdown, sections and the places of quotes."""
