"""The front matter of Markdown: title, author, date and tags are kept, and no code runs."""

import pytest

from longsearch.indexer.extract.readers import markdown as markdown_text
from longsearch.indexer.extract.readers.front_matter import split_front_matter
from tests.indexer.extracting import headings_of

YAML = """---
title: "A Plan: for 2024"
authors: [{name: Ann Lee, role: x}, Bo]
date: 2024-02-30
tags:
  - bridges
  - steel
Summary: What we will do.
layout: post
---
# Body

words
"""


def test_front_matter_gives_title_author_date_tags_and_summary() -> None:
    found = markdown_text.parse(YAML)
    assert found.title == "A Plan: for 2024"
    assert found.text == (
        "Author: Ann Lee, Bo\n\nDate: 2024-02-30\n\nTags: bridges, steel\n\nWhat we will do.\n\nBody\n\nwords"
    ).replace("\n\n", "\n", 3)
    assert headings_of(found) == [(1, "Body")]


def test_front_matter_in_toml_is_read_too() -> None:
    front = split_front_matter('+++\ntitle = "In TOML"\ndate = 2024-01-02\ntags = ["a", "b"]\n+++\nbody\n')
    assert (front.title, front.blocks, front.body) == ("In TOML", ("Date: 2024-01-02", "Tags: a, b"), "body\n")


def test_entities_in_front_matter_are_letters_and_never_control_characters() -> None:
    front = split_front_matter(
        "---\ntitle: Pr&aacute;cticas &amp; &#27;[31mred&#x9b;m\ntags: [caf&eacute;]\n---\nbody\n"
    )
    assert front.title == "Prácticas & [31mred›m"
    assert front.blocks == ("Tags: café",)


@pytest.mark.parametrize(
    "block",
    [
        "title: [unclosed",
        "title: {{ template }}",
        "a: &a [*a, *a]\ntitle: *b",
        "!!python/object/apply:os.system ['true']: x: y",
        "[" * 5000,
        "\ttabs: x",
    ],
    ids=["unclosed", "template", "circle", "object", "deep", "tab"],
)
def test_malformed_front_matter_is_kept_as_text(block: str) -> None:
    found = markdown_text.parse(f"---\n{block}\n---\n# Heading\n\nwords\n")
    assert found.title == "Heading"
    assert found.text.startswith(block.strip()[:20])
    assert found.text.endswith("Heading\n\nwords")


@pytest.mark.parametrize(
    "source", ["---\nJust a line between two.\n---\n\nwords\n", "---\n\nwords\n", "--- \nx", "+++\n"]
)
def test_thematic_breaks_are_not_front_matter(source: str) -> None:
    front = split_front_matter(source)
    assert (front.title, front.blocks, front.body) == ("", (), source)


def test_a_yaml_tag_in_front_matter_creates_no_object() -> None:
    front = split_front_matter("---\ntitle: !!python/name:os.system x\nauthor: {a: {b: c}}\n---\n")
    assert (front.title, front.blocks) == ("x", ())


def test_nested_yaml_aliases_do_not_multiply_the_text() -> None:
    lines = ["a0: &a0 ha"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    front = split_front_matter("---\n" + "\n".join(lines) + "\ntags: *a29\n---\nbody")
    assert front.body == "body"
    assert sum(map(len, front.blocks)) < 100
