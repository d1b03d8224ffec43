"""Configuration of Sphinx, which makes the documentation a site: `make site`.

The source folder is the repository itself, so that pages in `docs` and those beside it (papers, changelog) are read
where they are, and a relative link leads to the same place on the site as in the repository's web view.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / "docs"))  # for the extension beside the pages

project = "xoff"
html_title = "xoff"
root_doc = "index"

# Only these hold pages. All else is left out by name, as Sphinx would look for pages in build trees too.
PAGES = {"docs", "papers", "index.md", "CONTRIBUTING.md", "CHANGELOG.md"}
exclude_patterns = sorted({entry.name for entry in ROOT.iterdir()} - PAGES)

extensions = ["myst_parser", "site_extension"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

html_theme = "furo"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_theme_options = {"sidebar_hide_name": False}

# Warned of, and so an error (make site): references that lead nowhere.
nitpicky = True
