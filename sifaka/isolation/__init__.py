"""Work on foreign text, patterns and schemas, in processes that can be given up."""

from sifaka.isolation.pool import SPREAD, isolated, isolated_in_thread, sharing, spread

__all__ = ["SPREAD", "isolated", "isolated_in_thread", "sharing", "spread"]
