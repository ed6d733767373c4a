"""Print what makes a shell complete the commands and their options.

The shell runs it when it starts. For bash and zsh, put the first or the second line into ~/.bashrc or
~/.zshrc; for fish, run the third once.

Examples:
  eval "$(mindtorch completion bash)"
  eval "$(mindtorch completion zsh)"
  mindtorch completion fish > ~/.config/fish/completions/mindtorch.fish
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from string import Template
from typing import Final

from .usage import add_json, print_json

__all__ = ["add_arguments", "run"]

_Options = dict[str, list[tuple[str, str]]]  # of each command: options and what they do

_BASH: Final = Template("""\
_mindtorch() {
    local word=$${COMP_WORDS[COMP_CWORD]} words
    if [ "$$COMP_CWORD" -eq 1 ]; then
        words="$commands"
    elif [[ $$word == -* ]]; then
        case $${COMP_WORDS[1]} in
$cases
        esac
    fi
    COMPREPLY=($$(compgen -W "$$words" -- "$$word"))
}
complete -o default -F _mindtorch mindtorch
""")
_ZSH: Final = Template("""\
autoload -Uz compinit bashcompinit
(( $$+functions[compdef] )) || compinit
bashcompinit
$bash""")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("shell", choices=sorted(_SCRIPTS), help="for which shell")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    found = _options()
    script = _SCRIPTS[options.shell](found)
    if options.json:
        commands = {
            name: [{"option": option, "about": about} for option, about in rows]
            for name, rows in found.items()
        }
        print_json({"shell": options.shell, "script": script, "commands": commands})
    else:
        print(script, end="")
    return 0


def _options() -> _Options:
    """The options of every command."""
    from . import COMMANDS

    found = {}
    for name in COMMANDS:
        parser = argparse.ArgumentParser(name)
        importlib.import_module(f".{name.replace('-', '_')}", __package__).add_arguments(parser)
        found[name] = [
            (option, (action.help or "").partition(";")[0])
            for action in parser._actions
            for option in action.option_strings
        ]
    return found


def _bash(found: _Options) -> str:
    cases = [
        f'            {name}) words="{" ".join([option for option, _ in options])}" ;;'
        for name, options in found.items()
    ]
    return _BASH.substitute(commands=" ".join(found), cases="\n".join(cases))


def _zsh(found: _Options) -> str:
    return _ZSH.substitute(bash=_bash(found))


def _fish(found: _Options) -> str:
    from . import COMMANDS

    lines = [
        f"complete -c mindtorch -n __fish_use_subcommand -f -a {name} -d {_quoted(COMMANDS[name])}"
        for name in found
    ]
    for name, options in found.items():
        for option, text in options:
            kind = "-l" if option.startswith("--") else "-s" if len(option) == 2 else "-o"
            lines.append(
                f"complete -c mindtorch -n '__fish_seen_subcommand_from {name}' "
                f"{kind} {option.lstrip('-')} -d {_quoted(text)}"
            )
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A text as one word of fish."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


_SCRIPTS: Final[dict[str, Callable[[_Options], str]]] = {
    "bash": _bash,
    "fish": _fish,
    "zsh": _zsh,
}
