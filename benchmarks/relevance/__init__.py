"""The quality of recall: 200 texts on 20 topics, 60 queries in other words."""
