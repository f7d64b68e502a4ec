"""The facts of a text, and what a rewrite has made of them."""

from sifaka.validators.facts.allowance import Allowance, allowance_of
from sifaka.validators.facts.comparison import Difference, compare
from sifaka.validators.facts.fact import KINDS

__all__ = ["KINDS", "Allowance", "Difference", "allowance_of", "compare"]
