"""What a command prints, in the forms of plain text and of Markdown."""

from lab.model.document import Diff, Listing, table
from lab.report import markdown, plain

BLOCKS = (
    "Two lines are missing.",
    Listing("a.ini", "[uwsgi]\n; ``` ends a block\n"),
    Diff("In nginx", ("- a", "+ b")),
    table("The same", ("before", "after"), [("x = 1", "y|1")], between=" -> "),
    table("Seen", ("", "question"), [("differs", "HEAD"), ("", "GET")]),
    table("", ("", ""), [("Start it", "uwsgi"), ("By", "hand")]),
)

PLAIN = """\
Two lines are missing.

# a.ini
[uwsgi]
; ``` ends a block

IN NGINX
  - a
  + b

THE SAME
  x = 1 -> y|1

SEEN
         question
differs  HEAD
         GET

Start it    uwsgi
By          hand
"""

MARKDOWN = """\
# A page

Two lines are missing.

`a.ini`:

````ini
[uwsgi]
; ``` ends a block
````

## In nginx

```diff
- a
+ b
```

## The same

| before | after |
| --- | --- |
| x = 1 | y\\|1 |

## Seen

|  | question |
| --- | --- |
| differs | HEAD |
|  | GET |

|  |  |
| --- | --- |
| Start it | uwsgi |
| By | hand |
"""


def test_plain_text():
    """Titles in capitals, rows in columns or with a sign between."""
    assert plain.render(BLOCKS) == PLAIN


def test_markdown():
    """Nothing in a file ends its block, nor a cell its row."""
    assert markdown.render_blocks("A page", BLOCKS) == MARKDOWN


def test_a_diff_without_a_title_is_as_patch_reads_it():
    """From the first column on."""
    assert plain.render([Diff("", ("-a", "+b"))]) == "-a\n+b\n"
