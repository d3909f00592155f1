"""Sphinx's settings. `tools.site.docs` has written the pages, and rewritten their links."""

project = "lab"
html_title = "lab"
extensions = ["myst_parser"]
root_doc = "docs/index"
html_theme = "furo"
templates_path = ["templates"]
html_show_sourcelink = False
html_use_index = False
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_permalinks_icon = "#"
html_sidebars = {
    "**": [
        *("sidebar/brand.html", "try.html", "sidebar/search.html"),
        *("sidebar/scroll-start.html", "sidebar/navigation.html", "sidebar/scroll-end.html"),
    ]
}
myst_heading_anchors = 6
smartquotes = False  # "--" begins an option
suppress_warnings = ["misc.highlighting_failure"]
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
