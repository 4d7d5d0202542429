"""The page that holds the terminal. Pure. Scripts, styles and letters come from textual-serve's folder, beside it."""

from html import escape

FONT_SIZE = 16
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>longsearch</title>
<link rel="stylesheet" href="static/css/xterm.css">
<style>
@font-face {{ font-family: "Roboto Mono"; font-weight: 100 700;
  src: url("static/fonts/RobotoMono-VariableFont_wght.ttf"); }}
@font-face {{ font-family: "Roboto Mono"; font-style: italic; font-weight: 100 700;
  src: url("static/fonts/RobotoMono-Italic-VariableFont_wght.ttf"); }}
html, body {{ margin: 0; background: #121212; color: #ddd; font: 16px "Roboto Mono", monospace; }}
.textual-terminal {{ width: 100vw; height: 100vh; }}
#ended {{ display: none; position: fixed; inset: 0; z-index: 10; background: #121212; padding: 2em; }}
body.-closed #ended {{ display: block; }}
</style>
<script src="static/js/textual.js"></script>
</head>
<body>
<div id="ended">The app has ended. Reload the page to open it again; indexing goes on.</div>
<div id="terminal" class="textual-terminal" data-session-websocket-url="{socket}" data-font-size="{font_size}"></div>
</body>
</html>
"""


def page(socket: str) -> str:
    """Return the page; `socket` is the address of the websocket."""
    return _PAGE.format(socket=escape(socket), font_size=FONT_SIZE)
