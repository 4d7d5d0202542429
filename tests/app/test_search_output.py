"""`longsearch search` prints the part of a passage that is nearest to the query, as text and as JSON."""

import json
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

from longsearch.app.commands.results import show, snippet, to_json, to_text
from longsearch.app.commands.search import LEVELS, MODES
from longsearch.engine.types.documents import MetadataValue
from longsearch.engine.types.results import (
    ChanceLevel,
    DocumentHit,
    MeaningShare,
    PassageHit,
    Reason,
    SearchMode,
    SearchResults,
    WordShare,
)

SENTENCES = [f"Sentence {number} speaks of apples, and of what it is that apples are." for number in range(20)]
TEXT = " ".join(SENTENCES)
START = 1000


def results(sentence: int | None) -> SearchResults:
    """Return results with one hit, whose excerpt is the sentence of that number."""
    excerpt = None
    if sentence is not None:
        first = START + TEXT.index(SENTENCES[sentence])
        excerpt = (first, first + len(SENTENCES[sentence]))
    passage = PassageHit(3, "On apples", START, START + len(TEXT), TEXT, 0.5, excerpt)
    hit = DocumentHit(1, 7, "/papers/a.pdf", "Apples", 0.5, (passage,))
    return SearchResults("apples", SearchMode.HYBRID, "", 1.0, (hit,))


def on_one_line(found: SearchResults) -> str:
    return " ".join(to_text(found, 80).split())


def test_a_passage_is_shown_from_its_start_if_its_excerpt_fits() -> None:
    for sentence in (None, 0, 2):
        assert f"> p. 3: {TEXT[:200]}" in on_one_line(results(sentence))


def test_a_passage_is_shown_from_its_excerpt_if_that_lies_further_on() -> None:
    shown = on_one_line(results(6))
    assert f"> p. 3: …{SENTENCES[6]} {SENTENCES[7]}" in shown


def test_an_excerpt_near_the_end_is_shown_with_the_text_before_it() -> None:
    shown = on_one_line(results(19))
    assert f"{SENTENCES[18]} {SENTENCES[19]} 1 document" in shown
    assert " …" in shown
    assert 230 < len(shown[shown.index("…") : shown.index(" 1 document")]) < 280


def test_a_long_passage_ends_with_a_whole_word_and_an_ellipsis() -> None:
    shown = on_one_line(results(0))
    words, dots = shown[shown.index("> p. 3: ") + 8 : shown.index(" 1 document")].rsplit(" ", 1)
    assert dots == "…"
    assert TEXT.startswith(words + " ")


def test_no_blank_follows_the_ellipsis_at_the_front() -> None:
    text = "word " * 200
    for start in range(500, 505):
        passage = PassageHit(None, "", 0, len(text), text, 0.5, (start, start + 4))
        assert snippet(passage).startswith("…word")


def test_a_script_without_blanks_is_cut_at_the_excerpt() -> None:
    text = "冰" * 500 + "川" * 20 + "冰" * 500
    passage = PassageHit(None, "", 0, len(text), text, 0.5, (500, 520))
    assert snippet(passage).startswith("…川川")
    assert len(snippet(passage)) < 250


def test_the_first_hits_have_two_passages_and_the_others_one() -> None:
    passages = tuple(PassageHit(None, "", at, at + 9, f"passage {at}", 0.5) for at in range(3))
    hits = tuple(DocumentHit(rank, rank, f"/{rank}.md", f"Title {rank}", 0.5, passages) for rank in range(1, 11))
    shown = to_text(SearchResults("apples", SearchMode.HYBRID, "", 1.0, hits), 80)
    counts = [part.count("> passage") for part in shown.split("Title ")[1:]]
    assert counts == [2, 2, 2, 1, 1, 1, 1, 1, 1, 1]


def test_the_day_of_a_file_is_told_only_in_a_list_and_with_explain() -> None:
    day = (MetadataValue("date", "2026-11-23", "file time"), MetadataValue("author", "Ann Lee", "PDF info"))
    hit = replace(results(0).hits[0], metadata=day)
    asked = replace(results(0), hits=(hit,))
    listed = replace(results(0), hits=(replace(hit, score=0.0),))
    assert "Ann Lee" in to_text(asked, 80)
    assert "2026-11-23" not in to_text(asked, 80)
    assert "2026-11-23" in to_text(asked, 80, explain=True)
    assert "2026-11-23" in to_text(listed, 80)


def test_the_language_of_a_text_is_told_unless_it_is_english_and_what_a_file_declares_is_left_to_json() -> None:
    declared = MetadataValue("language", "en", "PDF catalogue")
    for language, title in (("de", "Apples · German"), ("en", "Apples"), ("", "Apples")):
        found = results(None)
        hit = replace(found.hits[0], language=language, metadata=(declared,))
        found = replace(found, hits=(hit,))
        for explain in (False, True):
            assert to_text(found, 80, explain).splitlines()[:2] == [f"  1. {title}  [0.50]", "     /papers/a.pdf"]
        (told,) = to_json(found)["results"]
        assert told["language"] == (language or None)
        assert told["metadata"] == [{"field": "language", "value": "en", "source": "PDF catalogue"}]


def test_json_gives_the_excerpt_in_characters_of_the_document() -> None:
    (found,) = json.loads(json.dumps(to_json(results(5))))["results"][0]["passages"]
    first, stop = found["excerpt"]
    assert TEXT[first - START : stop - START] == SENTENCES[5]
    (found,) = json.loads(json.dumps(to_json(results(None))))["results"][0]["passages"]
    assert found["excerpt"] is None


def test_a_passage_that_begins_with_its_heading_shows_it_once() -> None:
    passage = PassageHit(None, "Service", 0, 40, "Service\n\nThe boiler is seen to once a year.", 0.5)
    hit = DocumentHit(1, 7, "/notes/boiler.md", "Boiler", 0.5, (passage,))
    assert "> Service: The boiler is seen" in on_one_line(SearchResults("boiler", SearchMode.WORDS, "", 1.0, (hit,)))


def test_a_heading_that_is_the_title_is_not_said_twice() -> None:
    passage = PassageHit(None, "Boiler", 0, 40, "The boiler is seen to once a year.", 0.5)
    hit = DocumentHit(1, 7, "/notes/boiler.md", "Boiler", 0.5, (passage,))
    assert "> The boiler is seen" in on_one_line(SearchResults("boiler", SearchMode.WORDS, "", 1.0, (hit,)))


def test_the_mode_option_offers_every_mode() -> None:
    assert tuple(mode.value for mode in SearchMode) == MODES


def hits_of(*levels: ChanceLevel | None) -> SearchResults:
    hits = tuple(
        DocumentHit(rank, rank, f"/papers/{rank}.pdf", f"Title {rank}", 0.5, (), level=level)
        for rank, level in enumerate(levels, start=1)
    )
    return SearchResults("apples", SearchMode.HYBRID, "", 1.0, hits)


def test_a_line_is_drawn_above_hits_no_better_than_chance() -> None:
    shown = to_text(hits_of(ChanceLevel.GOOD, ChanceLevel.CHANCE, ChanceLevel.CHANCE), 80)
    before, after = shown.split("── below: unlikely ──")
    assert "Title 1" in before
    assert "Title 2" in after
    assert "nothing likely; the nearest" in to_text(hits_of(ChanceLevel.CHANCE), 80)
    assert "──" not in to_text(hits_of(ChanceLevel.WEAK, None), 80)


def test_hits_below_the_level_asked_for_are_left_out_and_counted(home: Path) -> None:
    results = hits_of(ChanceLevel.GOOD, ChanceLevel.WEAK, ChanceLevel.CHANCE, None)
    assert results.at_least("chance") is results
    weak = results.at_least("weak")
    assert [hit.rank for hit in weak.hits] == [1, 2, 4]
    assert weak.note == "1 document left out: below weak"
    assert [hit.rank for hit in results.at_least("good").hits] == [1, 4]
    assert show(hits_of(ChanceLevel.CHANCE).at_least("weak"), Namespace(json=True)) == 1
    assert [hit["level"] for hit in to_json(results)["results"]] == ["good", "weak", "chance", None]


def test_the_min_option_offers_every_level() -> None:
    found = hits_of(*ChanceLevel)
    names = [level.value for level in ChanceLevel]
    assert sorted(LEVELS) == sorted([*names, "unlikely", "unsure", "likely"])
    for new, old in zip(("unlikely", "unsure", "likely"), names, strict=True):
        assert found.at_least(new).hits == found.at_least(old).hits


REASON = Reason(
    (WordShare("apples", 0.21, 0.09, 12), WordShare("\x1b[31mfig", 0.0, 0.0, 0)),
    (
        MeaningShare("passage", 0.45, 0.063, 0.71),
        MeaningShare("excerpt", 0.55, 0.077, 0.9),
        MeaningShare("document", 0.5, 0.06, None),
    ),
    0.84,
    0.75,
    0.97,
    (0.25, 0.5),
)


def explained(level: ChanceLevel | None = ChanceLevel.GOOD, reason: Reason | None = REASON) -> SearchResults:
    found = results(3)
    return replace(found, hits=(replace(found.hits[0], level=level, reason=reason),))


def test_explain_says_what_each_part_gave_and_where_the_line_is() -> None:
    assert "beats" not in to_text(explained(), 80)
    shown = [line.strip() for line in to_text(explained(), 80, explain=True).splitlines()]
    assert "likely, above the line: beats 97% of random queries (unsure: 25%, likely: 50%)" in shown
    assert "words              0.30  beats 84% of random queries" in shown
    assert "apples           0.30  passage 0.21, document 0.09; in 12 passages" in shown
    assert "?[31mfig         0.00  in no passage of the index" in [line.replace("\ufffd", "?") for line in shown]
    assert "meaning            0.20  beats 75% of random queries" in shown
    assert "excerpt          0.08  cosine 0.55, beats 90% of random queries" in shown
    assert "document         0.06  cosine 0.50" in shown


def test_explain_names_the_scores_of_the_lit_sentence() -> None:
    (hit,) = explained().hits
    for probability, told in ((None, ""), (0.811, "; it answers with a probability of 0.81")):
        best = replace(hit.passages[0], answer=0.62, probability=probability)
        found = replace(explained(), hits=(replace(hit, passages=(best, *hit.passages[1:])),))
        assert f"are 0.62 near to the query's (1: the same){told}." in to_text(found, 80, explain=True)


def test_explain_says_when_a_hit_is_below_the_line_or_nothing_is_known() -> None:
    below = replace(REASON, beats=0.1)
    assert "unlikely, below the line: beats 10%" in to_text(explained(ChanceLevel.CHANCE, below), 80, explain=True)
    assert "the index is not calibrated" in to_text(explained(None), 80, explain=True)
    assert "has no parts" in to_text(explained(None, None), 80, explain=True)


def test_explain_says_when_the_meaning_alone_decided_the_level() -> None:
    alone = replace(REASON, beats=0.75, lines=(0.5, 0.8), is_by_meaning=True)
    shown = to_text(explained(ChanceLevel.WEAK, alone), 80, explain=True)
    assert "unsure, above the line: its meaning beats 75% of random queries (unsure: 50%, likely: 80%)" in shown


def test_json_has_the_reason_only_with_explain() -> None:
    assert "reason" not in to_json(explained())["results"][0]
    reason = json.loads(json.dumps(to_json(explained(), explain=True)))["results"][0]["reason"]
    assert reason["words"][0] == {"word": "apples", "passage": 0.21, "document": 0.09, "n_passages": 12}
    assert reason["meaning"][2] == {"vector_of": "document", "cosine": 0.5, "points": 0.06, "beats": None}
    assert (reason["by_words"], reason["by_meaning"], reason["beats"]) == (0.3, 0.2, 0.97)
    assert reason["lines"] == {"weak": 0.25, "good": 0.5}
    assert to_json(explained(reason=None), explain=True)["results"][0]["reason"] is None
