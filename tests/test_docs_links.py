"""The pages of the documentation: every link inside the repository leads to a file and a heading that exist."""

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
PAGES = [*sorted(REPOSITORY.glob("*.md")), *sorted(REPOSITORY.glob("docs/*.md"))]


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    dead = []
    for file, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", page.read_text("utf-8")):
        target = page.parent / file if file else page
        is_dead = not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target))
        if is_dead and not file.startswith(("http://", "https://")):
            dead.append(f"{file}#{anchor}")
    assert dead == []
