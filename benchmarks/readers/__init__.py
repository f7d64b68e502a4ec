"""Readers of PDF and DOCX, compared on documents whose text is known."""
