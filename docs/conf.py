"""The documentation site, built by ``make docs`` into build/docs/html."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(Path(__file__).parent / "_extensions"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

project = PROJECT["name"]
release = version = PROJECT["version"]
author = PROJECT["authors"][0]["name"]
copyright = author

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "gallery_order",
    "repository_links",
]
exclude_patterns = ["_extensions", "gallery", "auto/tutorial/index.rst"]
exclude_patterns += ["auto/**/*.ipynb", "auto/**/*.py"]
suppress_warnings = ["config.cache"]
nitpicky = True  # a reference to a name that is not there fails the build
nitpick_ignore_regex = [
    # These libraries have sites of their own.
    ("py:.*", r"(numpy|np|pandas|sklearn|scipy|matplotlib|dask|distributed|fractions|pathlib)\..*"),
    ("py:class", r".*"),  # annotations and types of parameters are prose here
]

autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]

# The repository's address, for links to files that are no page of the site.
repository = PROJECT.get("urls", {}).get("Repository")

sphinx_gallery_conf = {
    "examples_dirs": [f"gallery/{part}" for part in ("tutorial", "guides", "explanation")],
    "gallery_dirs": [f"auto/{part}" for part in ("tutorial", "guides", "explanation")],
    "filename_pattern": "/",
    "ignore_pattern": r"/_",
    "within_subsection_order": "gallery_order.key",
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "doc_module": ("contree",),
    "reference_url": {"contree": None},
    "backreferences_dir": "auto/backreferences",
    "capture_repr": ("_repr_html_",),
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 10**6,  # seconds: never
    "download_all_examples": False,
    "remove_config_comments": True,
    "plot_gallery": True,
    "image_srcset": ["2x"],
    "parallel": 2,
}

html_theme = "pydata_sphinx_theme"
html_title = "contree"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "contree"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher", "navbar-icon-links"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "icon_links": [{"name": "Source", "url": repository, "icon": "fa-brands fa-github"}]
    if repository
    else [],
}
html_sidebars = {"index": [], "install": [], "results": [], "results/*": [], "auto/tutorial/*": []}

linkcheck_timeout = 20
linkcheck_retries = 2
linkcheck_anchors = False
