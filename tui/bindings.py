"""All keys of the main screen. The footer and the help screen are made from these tables.

Plain letters are commands in the results and in the text; in the query line they are text. Each binding has an id, so
a keymap can give it another key. The order is that of the footer: a narrow terminal cuts off the last ones.
"""

from textual.binding import Binding, BindingType

MAIN: list[BindingType] = [
    Binding("o,ctrl+o", "open", "Open", id="main.open", tooltip="Open the file in its viewer, at this page"),
    Binding("n", "step(1)", "Next", id="main.next", tooltip="Next passage in the document, or place of a search"),
    Binding("N", "step(-1)", "Back", id="main.back_step", show=False, tooltip="Previous passage, or place of a search"),
    Binding("p", "passage(-1)", "Prev", id="main.previous", show=False, tooltip="Previous passage in the document"),
    Binding("v", "printed_page", "Page", id="main.printed_page", tooltip="The page as printed; again: the text"),
    Binding("y", "copy('passage')", "Copy", id="main.copy", tooltip="Copy the passage, with title and page"),
    Binding("space", "keep", "Keep", id="main.keep", tooltip="Put the passage into the basket of evidence"),
    Binding("b", "basket", "Basket", id="main.basket", tooltip="The passages that you keep; export them"),
    Binding("Y", "copy('path')", "Copy path", id="main.copy_path", show=False, tooltip="Copy the path of the file"),
    Binding(
        "m",
        "similar",
        "Similar",
        id="main.similar",
        tooltip="Documents similar to this one; in the text, passages like this one",
    ),
    # With priority, so that letters typed right after it no longer go to the list.
    Binding(
        "slash",
        "slash",
        "Query",
        id="main.slash",
        key_display="/",
        priority=True,
        tooltip="Go to the query line; in the text: find in it",
    ),
    Binding("x", "explain", "Why", id="main.explain", show=False, tooltip="Why this document has its score"),
    Binding(
        "s",
        "side_by_side",
        "Side by side",
        id="main.side_by_side",
        show=False,
        tooltip="Mark this passage; on another one: show both side by side",
    ),
    Binding("M", "map", "Map", id="main.map", show=False, tooltip="A map of the passages that were found"),
    Binding("t", "outline", "Outline", id="main.outline", show=False, tooltip="Outline: headings or pages; go to one"),
    Binding("colon", "ask_page", "Go to page", id="main.ask_page", show=False, tooltip="Go to a page by its number"),
    Binding("ctrl+l", "query", "Query", id="main.query", show=False, priority=True, tooltip="Go to the query line"),
    Binding("f1,question_mark", "help", "Help", id="main.help", key_display="F1", tooltip="This help"),
    Binding("f2,ctrl+t", "mode", "Mode", id="main.mode", key_display="^t", tooltip="Next mode: hybrid, meaning, words"),
    # With priority, because the Input deletes a word on Ctrl+F.
    Binding(
        "f3,ctrl+f",
        "files",
        "Files",
        id="main.files",
        key_display="F3",
        priority=True,
        tooltip="Every file and its status",
    ),
    Binding("f4,ctrl+g", "folders", "Folders", id="main.folders", key_display="F4", tooltip="Search one folder only"),
    Binding("f5,ctrl+y", "history", "History", id="main.history", show=False, tooltip="Earlier queries, to ask again"),
    Binding("f6,ctrl+s", "saved", "Saved", id="main.saved", show=False, tooltip="Saved searches, and what is new"),
    Binding("ctrl+r", "instruction", "Instruct", id="main.instruction", tooltip="Say what kind of answer you want"),
    Binding("escape", "back", "Back", id="main.back", show=False, tooltip="One step back: text, results, query"),
    Binding("down", "select(1)", "Next result", id="main.down", show=False, tooltip="From the query: next result"),
    Binding(
        "up",
        "select(-1)",
        "Previous result",
        id="main.up",
        show=False,
        tooltip="From the query: previous result; in an empty line, the last query",
    ),
    Binding(
        "pagedown",
        "page(1)",
        "Page down",
        id="main.page_down",
        show=False,
        tooltip="From the query: page the text down",
    ),
    Binding("pageup", "page(-1)", "Page up", id="main.page_up", show=False, tooltip="From the query: page the text up"),
]

LIST_MOVES: list[BindingType] = [
    Binding("j", "cursor_down", "Down", id="results.down", show=False),
    Binding("k", "cursor_up", "Up", id="results.up", show=False),
    Binding("g", "first", "First", id="results.first", show=False),
    Binding("G", "last", "Last", id="results.last", show=False),
]

TEXT_MOVES: list[BindingType] = [
    Binding(
        "slash", "screen.find", "Find", id="preview.find", key_display="/", priority=True, tooltip="Find in this text"
    ),
    Binding("j", "scroll_down", "Down", id="preview.down", show=False),
    Binding("k", "scroll_up", "Up", id="preview.up", show=False),
    Binding("d", "page_down", "Page down", id="preview.page_down", show=False),
    Binding("u", "page_up", "Page up", id="preview.page_up", show=False),
    Binding("g", "scroll_home", "Start", id="preview.start", show=False),
    Binding("G", "scroll_end", "End", id="preview.end", show=False),
]

SIDES: list[BindingType] = [
    Binding("escape,q,s", "leave", "Back", id="sides.back", tooltip="Back to the results"),
    Binding(
        "tab,shift+tab,left,right",
        "other",
        "Other side",
        id="sides.other",
        key_display="tab",
        priority=True,
        tooltip="To the other side",
    ),
    Binding("n", "passage(1)", "Next", id="sides.next", tooltip="Next passage on this side"),
    Binding("p", "passage(-1)", "Prev", id="sides.previous", tooltip="Previous passage on this side"),
    Binding("v", "printed_page", "Page", id="sides.printed_page", tooltip="The page as printed; again: the text"),
]

MAP: list[BindingType] = [
    Binding("escape,q,M", "leave", "Back", id="map.back", tooltip="Back to the results"),
    Binding("enter", "choose", "Go there", id="map.choose", tooltip="Go to the document that is lit"),
    Binding(
        "j,down,right,tab",
        "move(1)",
        "Next",
        id="map.next",
        key_display="j",
        priority=True,
        tooltip="Light the next document",
    ),
    Binding(
        "k,up,left,shift+tab",
        "move(-1)",
        "Before",
        id="map.previous",
        key_display="k",
        priority=True,
        tooltip="Light the one before",
    ),
]

BASKET: list[BindingType] = [
    Binding("escape,q,b", "leave", "Back", id="basket.back", tooltip="Back to the results"),
    Binding("o", "open", "Open", id="basket.open", tooltip="Open the file in its viewer, at this page"),
    Binding("n", "note", "Note", id="basket.note", tooltip="Write a note to the passage"),
    Binding("e", "export", "Export", id="basket.export", tooltip="Write the basket to a file"),
    Binding("y", "copy", "Copy", id="basket.copy", tooltip="Copy the passage with its source"),
    Binding("d,delete", "remove", "Remove", id="basket.remove", tooltip="Take the passage out"),
    Binding("J,shift+down", "move(1)", "Down", id="basket.move_down", tooltip="Move the passage down"),
    Binding("K,shift+up", "move(-1)", "Up", id="basket.move_up", tooltip="Move the passage up"),
    Binding("u", "undo", "Undo", id="basket.undo", tooltip="Take the last change back"),
    Binding("C", "clear", "Clear", id="basket.clear", tooltip="Remove all passages"),
    Binding("j", "cursor(1)", "Next", id="basket.next", show=False, tooltip="Next passage"),
    Binding("k", "cursor(-1)", "Previous", id="basket.previous", show=False, tooltip="Previous passage"),
]

FILES: list[BindingType] = [
    Binding("escape,q,f3,ctrl+f", "dismiss", "Back", id="files.back", tooltip="Back to the results"),
    Binding("f", "filter", "Filter", id="files.filter", tooltip="Show only the files of the next status"),
    Binding("o,enter", "open", "Open", id="files.open", tooltip="Open the file in its viewer"),
    Binding("y", "copy_path", "Copy path", id="files.copy_path", tooltip="Copy the path of the file"),
    Binding("r", "retry", "Read again", id="files.retry", tooltip="Read again the files that failed or are partial"),
    Binding(
        "s",
        "scans",
        "Scans",
        id="files.scans",
        tooltip="Have scanned pages read when the machine is idle and on mains; again: no longer",
    ),
    Binding("f5", "read", "Reload", id="files.reload", tooltip="Read the list again"),
]

TABLE_MOVES: list[BindingType] = [
    Binding("down,j", "move(1)", "Down", show=False),
    Binding("up,k", "move(-1)", "Up", show=False),
    Binding("pagedown", "page(1)", "Page down", show=False),
    Binding("pageup", "page(-1)", "Page up", show=False),
    Binding("home,ctrl+home,g", "go_to(0)", "First", show=False),
    Binding("end,ctrl+end,G", "go_to(-1)", "Last", show=False),
]

PAGE_MOVES: list[BindingType] = [
    Binding(
        "slash", "screen.find", "Find", id="page.find", key_display="/", priority=True, tooltip="Find in this text"
    ),
    Binding("pagedown,right_square_bracket", "turn(1)", "Next page", id="page.next", show=False),
    Binding("pageup,left_square_bracket", "turn(-1)", "Page before", id="page.previous", show=False),
    Binding("j,down", "move(0, 1)", "Down", id="page.down", show=False, tooltip="Down, then the next page"),
    Binding("k,up", "move(0, -1)", "Up", id="page.up", show=False, tooltip="Up, then the page before"),
    Binding("d", "move(0, 6)", "Screen down", id="page.screen_down", show=False),
    Binding("u", "move(0, -6)", "Screen up", id="page.screen_up", show=False),
    Binding("l,right", "move(1, 0)", "To the right", id="page.right", show=False),
    Binding("h,left", "move(-1, 0)", "To the left", id="page.left", show=False),
    Binding("plus,equals_sign", "zoom(1)", "Larger", id="page.larger", show=False),
    Binding("minus", "zoom(-1)", "Smaller; at last the whole page", id="page.smaller", show=False),
    Binding("g,home", "end(1)", "First page", id="page.first", show=False),
    Binding("G,end", "end(-1)", "Last page", id="page.last", show=False),
]
