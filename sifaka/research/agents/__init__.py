"""The agents of research, each with its instructions, what it is given and what it gives."""
