"""Work on foreign text, patterns and schemas, in processes that can be given up."""

from sifaka.isolation.pool import is_spread, isolated, isolated_in_thread, sharing, spread

__all__ = ["is_spread", "isolated", "isolated_in_thread", "sharing", "spread"]
