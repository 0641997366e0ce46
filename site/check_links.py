"""Checks that the links of a site lead somewhere: to a file of it, and to an anchor in that file."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def problems(folder: Path, pages: dict[Path, Page]) -> list[str]:
    """Every link that leads nowhere."""
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_relative_to(folder) or not target.exists():
                found.append(f"{path.relative_to(folder)}: no such file: {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{path.relative_to(folder)}: no such heading: {link}")
    return found


def main() -> int:
    folder = Path(sys.argv[1]).resolve()
    # The page for wrong addresses has links from the root of a server.
    paths = [path for path in folder.rglob("*.html") if path.name != "404.html"]
    pages = {path: Page(path) for path in paths}
    found = problems(folder, pages)
    print("\n".join(found))
    n_links = sum(len(page.links) for page in pages.values())
    print(f"{len(pages)} pages, {n_links} links, {len(found)} broken")
    return 1 if found else 0


sys.exit(main())
