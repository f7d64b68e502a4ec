"""How well recall finds what is meant: 200 texts on 20 topics, 60 queries in other words."""
