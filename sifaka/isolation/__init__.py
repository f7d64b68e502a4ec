"""Work on foreign text, patterns and schemas, in processes that can be given up."""

from sifaka.isolation.pool import isolated, sharing

__all__ = ["isolated", "sharing"]
