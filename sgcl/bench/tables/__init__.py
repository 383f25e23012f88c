"""The tables and figures, a file for each kind."""

__all__: list[str] = []
