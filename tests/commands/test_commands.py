"""Every command is a file, which is loaded when the command is called."""

import pkgutil
import subprocess
import sys

from sgcl import commands


def test_every_file_is_a_command_and_every_command_a_file():
    files = {found.name.removesuffix("_") for found in pkgutil.iter_modules(commands.__path__)}
    assert files - {"arguments"} == set(commands.COMMANDS)


def test_help_loads_no_command():
    child = ("import sys; from sgcl.cli import main; main(['--help']); "
             "sys.exit(any(name.startswith(('sgcl.commands.', 'sgcl.workflow', 'sklearn')) for name in sys.modules))")
    assert subprocess.run([sys.executable, "-c", child], stdout=subprocess.DEVNULL).returncode == 0
