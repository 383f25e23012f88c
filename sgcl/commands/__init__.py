"""The commands of ``sgcl``, one a file. Its ``command`` takes the words that follow the name, works and prints."""

COMMANDS = ("train", "evaluate", "embed", "sweep", "runs", "show", "import", "datasets", "methods", "demo", "partition",
            "bench")

__all__ = ["COMMANDS"]
