"""Markdown as HTML that the console's Content-Security-Policy allows: no inline scripts, no inline styles."""

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

Resolve = Callable[[str], str]
"""From a link's target in the source to its target in the site."""
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_COLOURS: HtmlFormatter[str] = HtmlFormatter(nowrap=True)


@dataclass
class Section:
    """A heading and the words under it, up to the next."""

    level: int
    title: str
    anchor: str
    words: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@dataclass(frozen=True)
class RenderedPage:
    """A page's content, its sections in order, and where it links to."""

    html: str
    sections: tuple[Section, ...]
    targets: tuple[str, ...]

    @property
    def title(self) -> str:
        return self.sections[0].title

    @property
    def anchors(self) -> set[str]:
        return {section.anchor for section in self.sections}


def render_page(text: str, resolve: Resolve) -> RenderedPage:
    """Anchors are those that forges give to headings, so links work in both places."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    tokens = parser.parse(_without_comments(text))
    targets = _rewrite_targets(tokens, resolve)
    sections = _read_sections(tokens)
    content: str = parser.renderer.render(tokens, parser.options, {})
    return RenderedPage(content, tuple(sections), tuple(targets))


def slug_of(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _without_comments(text: str) -> str:
    """Outside fences: a comment inside one is an example."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else _COMMENT.sub("", part) for part in parts)


def _rewrite_targets(tokens: Sequence[Token], resolve: Resolve) -> list[str]:
    targets = []
    for token in (child for block in tokens for child in block.children or ()):
        name = {"link_open": "href", "image": "src"}.get(token.type)
        if name:
            target = resolve(str(token.attrs[name]))
            token.attrs[name] = target
            targets.append(target)
        if token.type == "image":
            token.attrs["loading"] = "lazy"
    return targets


def _read_sections(tokens: Sequence[Token]) -> list[Section]:
    """Gives each heading its anchor on the way."""
    sections: list[Section] = []
    taken: dict[str, int] = {}
    for before, token in zip([None, *tokens], tokens, strict=False):
        if before and before.type == "heading_open":
            title = _plain(token)
            slug = slug_of(title)
            taken[slug] = taken.get(slug, -1) + 1
            anchor = f"{slug}-{taken[slug]}" if taken[slug] else slug
            before.attrs["id"] = anchor
            sections.append(Section(int(before.tag[1]), title, anchor))
        elif sections and token.type in ("inline", "fence", "code_block"):
            sections[-1].words.append(_plain(token))
    return sections


def _plain(token: Token) -> str:
    if token.children is None:
        return token.content
    kinds = ("text", "code_inline", "image")
    return "".join(child.content if child.type in kinds else " " * ("break" in child.type) for child in token.children)


def _fence(_renderer: Any, tokens: Sequence[Token], index: int, *_: Any) -> str:
    language = tokens[index].info.strip().partition(" ")[0]
    return f'<pre tabindex="0"><code>{_coloured(tokens[index].content, language)}</code></pre>\n'


def _coloured(code: str, language: str) -> str:
    try:
        return highlight(code, get_lexer_by_name(language), _COLOURS) if language else html.escape(code, quote=False)
    except ClassNotFound:
        return html.escape(code, quote=False)


def _table_open(*_: Any) -> str:
    return '<div class="overflow-auto" tabindex="0">\n<table>\n'


def _table_close(*_: Any) -> str:
    return "</table>\n</div>\n"


def _cell_open(_renderer: Any, tokens: Sequence[Token], index: int, *_: Any) -> str:
    """Alignment is a style in the parser's own words, which the policy forbids."""
    token = tokens[index]
    scope = ' scope="col"' if token.tag == "th" else ""
    side = ' class="right"' if "right" in str(token.attrs.get("style", "")) else ""
    return f"<{token.tag}{scope}{side}>"


def _heading_close(_renderer: Any, tokens: Sequence[Token], index: int, *_: Any) -> str:
    """With a link to itself, so that a section's address can be copied."""
    tag, anchor = tokens[index].tag, html.escape(str(tokens[index - 2].attrs["id"]))
    link = f'<a class="anchor" href="#{anchor}" aria-label="Link to this section">#</a>' if tag != "h1" else ""
    return f"{link}</{tag}>\n"


_RULES: dict[str, Callable[..., str]] = {
    "fence": _fence,
    "code_block": _fence,
    "table_open": _table_open,
    "table_close": _table_close,
    "th_open": _cell_open,
    "td_open": _cell_open,
    "heading_close": _heading_close,
}
