"""C in the colours of the page, light and dark."""

from __future__ import annotations

from polysched.report.extras import required

LIGHT, DARK = "default", "github-dark"
CLASS = "code"


def c_html(text: str) -> str:
    """C as a `pre` element whose colours come from `code_styles`."""
    lexers, formatters, pygments = (required("pygments.lexers"), required("pygments.formatters"), required("pygments"))
    shown: str = pygments.highlight(text, lexers.CLexer(stripnl=False), formatters.HtmlFormatter(nowrap=True))
    return f'<pre class="{CLASS}" tabindex="0">{shown}</pre>'


def code_styles() -> str:
    """The style sheet of the colours; paper is always light."""
    formatters = required("pygments.formatters")
    light, dark = ("\n".join(
        line for line in formatters.HtmlFormatter(style=style).get_style_defs(f".{CLASS}").splitlines()
        if line.startswith(f".{CLASS} ")) for style in (LIGHT, DARK))
    return f"{light}\n@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}\n"
