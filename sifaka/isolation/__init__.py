"""Work on foreign text, patterns and schemas, in processes that can be given up."""

from sifaka.isolation.pool import isolated, isolated_in_thread, sharing

__all__ = ["isolated", "isolated_in_thread", "sharing"]
