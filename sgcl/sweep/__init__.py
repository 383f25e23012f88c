"""Sweeps: one method trained with many settings, each scored without a look at test labels, and the best of them."""

from sgcl.sweep.arena import SELECT, Arena, arena_of, check_select
from sgcl.sweep.proposals import Grid, Range, Study
from sgcl.sweep.space import read_space
from sgcl.sweep.trials import sweep

__all__ = ["SELECT", "Arena", "Grid", "Range", "Study", "arena_of", "check_select", "read_space", "sweep"]
