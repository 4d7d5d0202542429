"""`longsearch saved`: save a search with a name, list the saved ones, run one, or delete one."""

import json
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from longsearch.app.commands.search import MODES
from longsearch.app.options import FOLDER, JSON, JSON_AGAIN, RESULTS, Actions, option
from longsearch.engine.amounts import counted
from longsearch.engine.printable import condensed, printable

if TYPE_CHECKING:
    from longsearch.app.user_data.saved import SavedSearch

HELP = "save searches with a name, list, run or delete them"
_NAME = option("name", "the name of the search; case does not matter")
OPTIONS = (
    Actions(
        {
            "list": ("list the saved searches (the same as `longsearch saved`)", JSON_AGAIN),
            "add": (
                "save a search; what answers it now is no news",
                _NAME,
                option("query", "the query, with its filters, as for `longsearch search`"),
                *FOLDER,
                option("--mode", "as for `longsearch search`", choices=MODES, default="hybrid"),
                option("--instruction", "as for `longsearch search`", default="", metavar="TEXT"),
            ),
            "run": ("search again, and note that you have looked at the news", _NAME, *RESULTS),
            "remove": ("delete a saved search", _NAME),
        }
    ),
    JSON,
)


def run(options: Namespace) -> int:
    """Do the action. Returns 0, or 1 if nothing was found or nothing is saved."""
    match options.action:
        case "add":
            return _add(options)
        case "run":
            return _run(options)
        case "remove":
            from longsearch.app.user_data.saved import SavedSearches

            SavedSearches().remove(options.name)
            print(f"{printable(options.name)} is deleted")
            return 0
    return _list(options.json)


def _list(as_json: bool) -> int:
    from longsearch.app.user_data.saved import SavedSearches

    searches = SavedSearches().all()
    if as_json:
        print(json.dumps({"searches": [to_json(one) for one in searches]}, indent=2))
    elif not searches:
        print("no search is saved; to save one: longsearch saved add NAME QUERY, or F6 in the app")
    for one in () if as_json else searches:
        news = f"  ({len(one.news)} new)" if one.news else ""
        print(f"{printable(one.name)}{news}\n    {printable(condensed(one.query))}{_how(one)}")
    return 0 if searches else 1


def _how(one: "SavedSearch") -> str:
    """Return the mode, the instruction and the folders of a search, if they are not the usual ones."""
    said = [one.mode.value] if one.mode.value != "hybrid" else []
    said += [f"instruction: {one.instruction}"] if one.instruction else []
    said += [", ".join(one.roots)] if one.roots else []
    return f"  ({printable('; '.join(said))})" if said else ""


def to_json(one: "SavedSearch") -> dict[str, Any]:
    """Return a search as the JSON object that the documentation describes."""
    return {
        "name": one.name,
        "query": one.query,
        "mode": one.mode.value,
        "instruction": one.instruction,
        "folders": list(one.roots),
        "saved_at": one.saved_at,
        "new": [
            {
                "path": new.path,
                "title": new.title,
                "page": new.page,
                "text": new.text,
                "level": new.level or None,
                "found_at": new.found_at,
            }
            for new in one.news
        ],
    }


def _add(options: Namespace) -> int:
    from longsearch.app.evidence.saving import save
    from longsearch.app.folders.listing import indexed_folders
    from longsearch.app.models import query_vectors as vectors
    from longsearch.app.search.scope import Scope
    from longsearch.app.user_data.saved import SavedSearch
    from longsearch.engine.types.results import SearchMode

    scope = Scope.chosen(options.folder, options.everywhere)
    query = f'{options.query} in:"{scope.under}"' if scope.under else options.query
    roots = (scope.folders[0].root,) if scope.is_one else ()
    search = SavedSearch(options.name, query, SearchMode(options.mode), options.instruction, roots)
    save(search, indexed_folders(), vectors.from_anywhere)
    print(f"{printable(condensed(options.name))} is saved; what is new: longsearch news")
    return 0


def _run(options: Namespace) -> int:
    from longsearch.app.commands.results import show
    from longsearch.app.evidence.saving import searched
    from longsearch.app.folders.listing import indexed_folders
    from longsearch.app.models import query_vectors as vectors
    from longsearch.app.user_data.saved import SavedSearches

    searches = SavedSearches()
    one = searches.named(options.name)
    results = searched(one, indexed_folders(), vectors.from_anywhere, options.k)
    news = searches.look(one.name)
    exit_code = show(results, options)
    if news and not options.json:
        print(f"{counted(len(news), 'passage')} new since you last looked")
    return exit_code
