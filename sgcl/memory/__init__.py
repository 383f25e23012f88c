"""Memory: what a training will take, told before it begins, and what would fit where that is too much."""

from sgcl.memory.footprint import Estimate, estimate, shown
from sgcl.memory.guard import Plan, check_memory, resident
from sgcl.memory.meter import Meter
from sgcl.memory.peak import peak_increase

__all__ = ["Estimate", "Meter", "Plan", "check_memory", "estimate", "peak_increase", "resident", "shown"]
