"""The list of results: which document is selected when an answer follows another."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from textual.app import App, ComposeResult

from longsearch.engine.types.results import ChanceLevel, DocumentHit, PassageHit
from longsearch.tui.painting import WrappedLines
from longsearch.tui.text.highlight import NO_WORDS
from longsearch.tui.text.result_content import chance_line
from longsearch.tui.widgets.results import Results


class Listing(App[None]):
    """Shows a list, and notes what it reports."""

    def __init__(self) -> None:
        super().__init__()
        self.list = Results("/")
        self.selected: list[tuple[int, bool]] = []
        """The documents that were selected, and whether the person had chosen them."""

    def compose(self) -> ComposeResult:
        yield self.list

    def on_results_selected(self, event: Results.Selected) -> None:
        self.selected.append((event.hit.document_id, event.is_chosen))


@asynccontextmanager
async def listing() -> AsyncIterator[tuple[Listing, Results]]:
    app = Listing()
    async with app.run_test():
        yield app, app.list


def hits(*document_ids: int) -> tuple[DocumentHit, ...]:
    return tuple(
        DocumentHit(rank, document_id, f"/{document_id}", "", 0.5, ())
        for rank, document_id in enumerate(document_ids, 1)
    )


def selected(results: Results) -> int | None:
    return results.selected.document_id if results.selected else None


async def test_until_a_document_is_chosen_the_best_is_selected() -> None:
    async with listing() as (_, results):
        results.show(hits(1, 2), NO_WORDS)
        assert selected(results) == 1
        results.show(hits(2, 1), NO_WORDS)
        assert selected(results) == 2


async def test_a_chosen_document_stays_selected_wherever_it_stands_in_the_next_answer() -> None:
    async with listing() as (_, results):
        results.show(hits(1, 2), NO_WORDS)
        results.move(1)
        results.show(hits(3, 4, 2), NO_WORDS)
        assert selected(results) == 2
        results.show(hits(3, 4), NO_WORDS)
        assert selected(results) is None
        results.show(hits(2, 3), NO_WORDS)
        assert selected(results) == 2
        results.begin()
        results.show(hits(3, 4, 2), NO_WORDS)
        assert selected(results) == 3, "a new query begins anew"


async def test_the_best_document_counts_as_chosen_once_it_is_read() -> None:
    app = Listing()
    async with app.run_test() as pilot:
        app.list.show(hits(1, 2), NO_WORDS)
        app.list.choose()
        app.list.show(hits(2, 1), NO_WORDS)
        await pilot.pause()
        assert app.selected[-1] == (1, True)


async def test_a_document_chosen_in_advance_is_selected_when_its_answer_comes() -> None:
    async with listing() as (_, results):
        results.begin()
        results.expect(2)
        results.show(hits(1, 2), NO_WORDS)
        assert selected(results) == 2


async def test_the_file_that_was_in_view_last_time_is_selected_once_it_is_found() -> None:
    async with listing() as (_, results):
        results.begin("/2")
        results.show(hits(1, 3), NO_WORDS)
        assert selected(results) == 1
        results.show(hits(1, 2), NO_WORDS)
        assert selected(results) == 2


async def test_nothing_is_chosen_any_more_once_nothing_is_found() -> None:
    async with listing() as (_, results):
        results.show(hits(1, 2), NO_WORDS)
        results.move(1)
        results.show((), NO_WORDS)
        results.show(hits(3, 4), NO_WORDS)
        assert selected(results) == 3


def levels(*likely: bool) -> tuple[DocumentHit, ...]:
    chances = [ChanceLevel.GOOD if is_likely else ChanceLevel.CHANCE for is_likely in likely]
    found = hits(*range(1, len(likely) + 1))
    return tuple(replace(hit, level=level) for hit, level in zip(found, chances, strict=True))


async def test_one_row_stands_for_the_unlikely_documents_until_a_person_goes_down_to_it() -> None:
    async with listing() as (_, results):
        results.show(levels(True, False, False), NO_WORDS)
        assert rows(results) == ["1", "2 unlikely"]
        results.move(1)
        assert (selected(results), rows(results)) == (2, ["1", "2", "3"])
        results.move(-1)
        assert rows(results) == ["1", "2", "3"], "they stay unfolded"
        results.begin()
        results.show(levels(True, True, False), NO_WORDS)
        assert rows(results) == ["1", "2", "1 unlikely"], "a new query folds them again"


async def test_the_only_likely_document_has_the_room_for_its_whole_sentence_and_keeps_it() -> None:
    sentence = "The valve stayed open until the pressure had fallen. " * 6
    passage = PassageHit(None, "", 0, len(sentence), sentence, 0.5, (0, len(sentence)))

    def n_lines(results: Results) -> list[int]:
        return [prompt.n_lines for prompt in prompts(results)]

    app = Listing()
    async with app.run_test() as pilot:
        results, found = app.list, tuple(replace(hit, passages=(passage,)) for hit in levels(True, False, False))
        results.styles.height = 12
        await pilot.pause()
        results.show(found, NO_WORDS)
        first, folded = n_lines(results)
        results.move(1)
        unfolded = n_lines(results)
        assert (first, folded) == (unfolded[0], 1) and first > unfolded[2]
        results.show((found[0], replace(found[1], level=ChanceLevel.WEAK), found[2]), NO_WORDS)
        assert n_lines(results)[0] == n_lines(results)[1] < first


async def test_a_line_stands_above_the_unlikely_documents_also_where_others_below_were_not_read() -> None:
    async with listing() as (_, results):
        good, unlikely, other = levels(True, False, False)
        results.show((good, unlikely, replace(other, level=None)), NO_WORDS)
        results.move(1)
        first_lines = [str(next(iter(prompt.make()))) for prompt in prompts(results)]
        assert ["below: unlikely" in line for line in first_lines] == [False, True, False]


def test_the_line_above_the_unlikely_documents_keeps_its_words_where_room_is_short() -> None:
    found = levels(False, False)
    assert chance_line(found, 0, 40).plain == "── nothing likely; the nearest: ──"
    assert chance_line(found, 0, 30).plain == "nothing likely; the nearest:"


async def test_a_click_on_the_row_of_unlikely_documents_unfolds_them() -> None:
    app = Listing()
    async with app.run_test() as pilot:
        app.list.show(levels(True, False, False), NO_WORDS)
        await pilot.pause()
        folded = next(y for y in range(app.list.size.height) if "2 unlikely" in app.list.render_line(y).text)
        await pilot.click(Results, offset=(3, folded + 1))  # the list has a frame here
        await pilot.pause()
        assert rows(app.list) == ["1", "2", "3"]
        assert app.selected[-1] == (2, True)


async def test_a_chosen_document_that_becomes_unlikely_is_in_view() -> None:
    async with listing() as (_, results):
        results.show(levels(True, True, False), NO_WORDS)
        results.move(1)
        results.show(levels(True, False, False), NO_WORDS)
        assert (selected(results), rows(results)) == (2, ["1", "2", "3"])


async def test_where_nothing_is_likely_nothing_is_folded() -> None:
    async with listing() as (_, results):
        results.show(levels(False, False), NO_WORDS)
        assert len(rows(results)) == 2


def prompts(results: Results) -> list[WrappedLines]:
    return [option.prompt for option in results.options if isinstance(option.prompt, WrappedLines)]


def rows(results: Results) -> list[str]:
    """The title of each row, without the line about likelihood."""
    shown = [[str(line) for line in lines.make()] for lines in prompts(results)]
    return [next(line for line in lines if "──" not in line).rstrip("↓ ") for lines in shown]


async def test_the_first_row_in_view_is_a_title_when_the_next_hit_takes_the_room() -> None:
    app = Listing()
    async with app.run_test(size=(60, 7)) as pilot:
        app.list.show(hits(*range(1, 9)), NO_WORDS)
        await pilot.pause()
        for step in (1, 1, 1, 1, -1, -1, -1):
            app.list.move(step)
            await pilot.pause()
            assert app.list._lines[app.list.scroll_offset.y][1] == 0
            assert app.list.highlighted in {index for index, _ in app.list._lines[app.list.scroll_offset.y :][:7]}


async def test_a_key_lists_the_versions_of_the_selected_document_until_the_next_query() -> None:
    first, second, third = hits(1, 2, 3)
    async with listing() as (app, results):
        results.show((replace(first, versions=(second,)), third), NO_WORDS)
        results.focus()
        await app._press_keys(["e"])
        assert [hit.document_id for hit in results.hits] == [1, 2, 3]
        assert selected(results) == 1
        results.begin()
        results.show((replace(first, versions=(second,)), third), NO_WORDS)
        assert [hit.document_id for hit in results.hits] == [1, 3]
