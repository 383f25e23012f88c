"""Methods: one paper a file, all on the contract of :class:`Method`."""

from sgcl.methods.base import Method
from sgcl.methods.sgcl import SGCL
from sgcl.registry import Registry

METHODS = Registry("method", {"sgcl": SGCL}, "sgcl.methods")

__all__ = ["METHODS", "SGCL", "Method"]
