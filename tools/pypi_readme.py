"""A hook of hatchling: the README as PyPI shows it, with links and pictures that lead to the repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

REPOSITORY = "https://github.com/hingeline/hingeline/blob/main/"
PICTURES = "https://raw.githubusercontent.com/hingeline/hingeline/main/"
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)]+)\)")


class ReadmeHook(MetadataHookInterface):
    """Fills in the field ``readme`` of the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Take README.md from the root of the repository."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute_links(text)}


def absolute_links(text: str) -> str:
    """Return a page with its relative links made absolute."""
    return LINK.sub(lambda link: f"{link[1]}[{link[2]}]({PICTURES if link[1] else REPOSITORY}{link[3]})", text)
