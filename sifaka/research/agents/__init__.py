"""The agents of research, each with its instructions, its prompt and its form."""
