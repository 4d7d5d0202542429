"""`longsearch skill`: tell an agent's program when and how to use longsearch."""

from argparse import Namespace

from longsearch.app.options import option

HELP = "print or install instructions for agents (SKILL.md): when and how to search, read and cite"
DEFAULT = "~/.claude/skills"
OPTIONS = (
    option("action", "default: print", nargs="?", choices=("print", "install"), default="print"),
    option("--to", f"folder of skills to install it in (default: {DEFAULT})", default=DEFAULT, metavar="DIR"),
)


def run(options: Namespace) -> int:
    """Print the instructions, or put them into the agent's folder. Returns 0."""
    from importlib import resources

    from longsearch.app.paths import expanded, in_shell

    text = (resources.files("longsearch.assets") / "skill" / "SKILL.md").read_text("utf-8")
    if options.action == "print":
        print(text, end="")
        return 0
    target = expanded(options.to) / "longsearch" / "SKILL.md"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, "utf-8")
    print(f"wrote {in_shell(target)}")
    return 0
