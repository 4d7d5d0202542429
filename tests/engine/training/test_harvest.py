"""Training pairs from folders: which text becomes a query, and which becomes a passage."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longsearch.engine.errors import LongsearchError
from longsearch.engine.training import commands
from longsearch.engine.training.data.harvest import harvest, word_runs
from longsearch.engine.training.data.pairs import read_pairs
from tests.engine.training.training_helpers import WORDS

LONG = " ".join(WORDS[:30])
MARKDOWN = f"""---
title: "The harbour"
---
Intro {LONG} [a link](https://example.org) and ![an image](x.png).

## Opening hours

{LONG}

## Who may moor here?

<div>{LONG}</div>

## Short

Too little.
"""
PYTHON = '''"""Module of a harbour, which is long enough to be read as a file by the harvester of training pairs."""


def tide_level(hour):
    """The water at that hour, in metres above the chart's zero.

    More that nobody asks for.
    """
    level = hour % 12
    offset = 3
    return level - offset


def quiet():
    return None
'''
RUST = """// Copyright 2020 of somebody, under a license that is not what anybody would ever search for here.
use std::fmt;

/// Opens the lock between both basins and waits for the water.
///
/// Not in the query.
pub fn open_lock(basin: &Basin) -> Result<Level, Error> {
    let level = basin.level();
    basin.valve().open();
    Ok(level)
}
"""
POSTS = f"""<?xml version="1.0"?><posts>
<row Id="1" PostTypeId="1" Title="Why do gulls sleep here?" Body="&lt;p&gt;I saw {LONG}&lt;/p&gt;" />
<row Id="2" PostTypeId="2" ParentId="1" Score="3" Body="&lt;p&gt;Because {LONG}&lt;/p&gt;" />
<row Id="3" PostTypeId="2" ParentId="1" Score="-1" Body="&lt;p&gt;Wrong {LONG}&lt;/p&gt;" />
<row Id="4" PostTypeId="2" ParentId="9" Score="5" Body="&lt;p&gt;Of another {LONG}&lt;/p&gt;" />
</posts>"""


def pairs_of(folder, name, text, seed=0):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, "utf-8")
    return list(harvest(folder, "here", seed))


def test_a_heading_is_the_query_of_the_section_below_it(tmp_path):
    pairs = pairs_of(tmp_path, "harbour.md", MARKDOWN)
    assert [(p.query, p.kind) for p in pairs] == [
        ("The harbour", "heading2section"),
        ("The harbour: Opening hours", "heading2section"),
        ("Who may moor here?", "question2answer"),
    ]
    assert pairs[0].passage == f"Intro {LONG} a link and ."
    assert pairs[2].passage == LONG
    assert {(p.source, p.document) for p in pairs} == {("here", "harbour.md")}


def test_the_query_of_a_python_function_is_its_docstring_or_a_question_with_its_name(tmp_path):
    pairs = [pairs_of(tmp_path, "tide.py", PYTHON, seed)[0] for seed in range(30)]
    assert all("tide_level" in p.passage and "quiet" not in p.passage for p in pairs)
    queries = {p.query for p in pairs}
    assert "The water at that hour, in metres above the chart's zero." in queries
    assert any("tide" in query for query in queries)
    assert len({"More that" in p.passage for p in pairs}) == 2  # with its docstring, and without


def test_the_query_of_other_code_is_the_comment_above_it(tmp_path):
    found = [pairs_of(tmp_path, "lock.rs", RUST, seed) for seed in range(30)]
    assert all(len(pairs) == 1 and "fn open_lock" in pairs[0].passage for pairs in found)
    assert "Opens the lock between both basins and waits for the water." in {pairs[0].query for pairs in found}


def test_a_question_is_paired_with_its_text_and_with_its_upvoted_answers(tmp_path):
    pairs = pairs_of(tmp_path, "Posts.xml", POSTS)
    assert [(p.query, p.kind, p.document) for p in pairs] == [
        ("Why do gulls sleep here?", "question2question", "1"),
        ("Why do gulls sleep here?", "question2answer", "1"),
    ]
    assert pairs[1].passage == f"Because {LONG}"


def test_an_answer_is_paired_with_a_question_in_another_table(tmp_path):
    (tmp_path / "questions.csv").write_text(
        f'\ufeffId,Title,Content\n7,Where are gulls?,"<p>I ask, ""{LONG}""</p>"\n8,Short,few\n', "utf-8"
    )
    answers = f'id,question_id,body\n70,7,"Here {LONG}"\n71,9,"Of nobody {LONG}"\n72,7,"{"ж" * 99} {LONG}"\n'
    pairs = pairs_of(tmp_path, "answers.csv", answers)
    assert sorted((p.query, p.passage, p.kind, p.document) for p in pairs) == [
        ("Where are gulls?", f"Here {LONG}", "question2answer", "7"),
        ("Where are gulls?", f'I ask, "{LONG}"', "question2question", "7"),
    ]


def test_tables_without_posts_give_no_pairs(tmp_path):
    assert pairs_of(tmp_path, "prices.csv", f"title,price\n{LONG},7\n") == []
    assert pairs_of(tmp_path, "endless.csv", 'id,title,body\n1,Gulls,"' + "endless " * 300_000) == []


def test_the_same_seed_draws_the_same_pairs(tmp_path):
    for i in range(9):
        (tmp_path / f"{i}.md").write_text(MARKDOWN.replace("harbour", f"harbour {i}"))
    assert list(harvest(tmp_path, "s", 1)) == list(harvest(tmp_path, "s", 1))
    assert list(harvest(tmp_path, "s", 1)) != list(harvest(tmp_path, "s", 2))


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(LongsearchError, match="does not exist"):
        list(harvest(tmp_path / "nowhere", "s"))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=2000), name=st.sampled_from(["a.md", "a.py", "a.rs", "a.csv", "Posts.xml"]))
def test_random_bytes_raise_no_error_and_give_no_empty_pair(content, name, tmp_path):
    (tmp_path / name).write_bytes(content * 3)
    for pair in harvest(tmp_path, "s"):
        assert pair.query and pair.passage
    (tmp_path / name).unlink()


def test_texts_with_25_words_in_a_row_in_common_share_a_word_run():
    words = " ".join(WORDS)
    assert word_runs([words]) & word_runs(["before " + words.upper() + " after"])
    assert not word_runs([words]) & word_runs([" ".join(reversed(WORDS))])
    assert not word_runs(["few words"])


def test_the_command_leaves_out_passages_of_an_evaluation_set(tmp_path, capsys):
    evaluation = tmp_path / "evaluation"
    evaluation.mkdir()
    (evaluation / "corpus.jsonl").write_text(json.dumps({"_id": "d", "title": "", "text": LONG}))
    (evaluation / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "gulls"}))
    (evaluation / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t1\n")
    source, out = tmp_path / "source", tmp_path / "pairs.jsonl"
    source.mkdir()
    (source / "harbour.md").write_text(MARKDOWN)
    (source / "other.md").write_text(
        f"# Another harbour altogether\n\n{' '.join(WORDS[30:])} and again {' '.join(WORDS[40:])}\n"
    )
    options = ["--source", "here", "--out", str(out), "--unlike", str(evaluation)]
    assert commands.run(["pairs", str(source), *options]) == 0
    assert "1 pairs, 3 left out" in capsys.readouterr().out
    assert [pair.query for pair in read_pairs([out])] == ["Another harbour altogether"]
