"""The site, built by Sphinx: see `make docs`.

Sphinx, since it reads numpydoc's docstrings and runs a gallery of scripts, as the sites of scientific Python do; MyST
lets the pages stay Markdown, which is also read in the repository and whose code blocks the tests run. A reader fetches
nothing from elsewhere: no fonts, no scripts, and formulas are MathML. Neither does the build, unless SITE_INTERSPHINX=1
asks for the inventories of other projects, whose names in docstrings then become links.
"""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "src")]

from hingeline import __version__  # noqa: E402

WITH_OTHERS = os.environ.get("SITE_INTERSPHINX") == "1"  # needs a network

project = "hingeline"
REPOSITORY = "https://github.com/hingeline/hingeline/"
author = "The hingeline developers"
copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    *["sphinx.ext.intersphinx"] * WITH_OTHERS,
    "sphinx_gallery.gen_gallery",
    "site_commands",
    "site_docstrings",
    "site_formulas",
    "site_links",
    "site_pictures",
    "site_reference",
]

intersphinx_mapping = {
    "python": ("https://docs.python.org/3", None),
    "numpy": ("https://numpy.org/doc/stable", None),
    "scipy": ("https://docs.scipy.org/doc/scipy", None),
    "sklearn": ("https://scikit-learn.org/stable", None),
    "matplotlib": ("https://matplotlib.org/stable", None),
    "dask": ("https://docs.dask.org/en/stable", None),
}

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
math_numfig = False
html_math_renderer = "mathml"

autodoc_default_options = {"members": True, "inherited-members": True}
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc's sections say it
napoleon_google_docstring = False
napoleon_use_rtype = False
# Several names on a line stay together.
napoleon_custom_sections = [("Parameters", "params_style"), ("Attributes", "params_style")]

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "gallery",
    # Shown in any case; run if what it needs is installed.
    "filename_pattern": r"\.py$" if find_spec("torch") else r"(?<!on_gpu)\.py$",
    "plot_gallery": os.environ.get("RUN_EXAMPLES", "1") != "0",  # 0: neither output nor pictures
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
}

html_theme = "furo"
html_title = "hingeline"
html_static_path = ["static", "pictures"]
(Path(__file__).parent / "pictures").mkdir(exist_ok=True)  # site_pictures fills it
html_css_files = ["site.css"]
html_js_files = ["copy.js"]
html_theme_options = {
    "source_repository": REPOSITORY,
    "source_branch": "main",
    "source_directory": "docs/",
    "footer_icons": [{"name": "Repository", "url": REPOSITORY, "html": "Repository", "class": "repository"}],
}
exclude_patterns = ["pictures", "results"]
html_copy_source = False
html_show_sphinx = False
pygments_style, pygments_dark_style = "tango", "monokai"
