"""
From a drawn figure to SVG that belongs to its page, and to PNG; the same bytes every time.

Text stays text, in the page's font; colours are CSS variables; ids carry the figure's name, because
several figures share a page; a title and a description are read to whoever cannot see it.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.text import Text

from lab.model.wording import visible
from lab.report.palette import LIGHT, adaptive_css

STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10,
    "svg.fonttype": "none",
    "svg.hashsalt": "lab",
    "text.parse_math": False,  # a profile's name may hold two dollars
    "text.color": LIGHT["ink"],
    "axes.edgecolor": LIGHT["line"],
    "axes.labelcolor": LIGHT["muted"],
    "axes.labelsize": 9,
    "axes.facecolor": "none",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "figure.facecolor": LIGHT["paper"],
    "xtick.color": LIGHT["muted"],
    "ytick.color": LIGHT["muted"],
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "xaxis.labellocation": "left",
    "hatch.linewidth": 0.6,
    "legend.borderpad": 0,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "path.simplify": False,
}

SVG = "{http://www.w3.org/2000/svg}"
XLINK_HREF = "{http://www.w3.org/1999/xlink}href"

PNG_DPI = 144
"""Twice the size in points, for dense screens."""

_ROLES = {colour: role for role, colour in LIGHT.items()}


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure with its words."""

    title: str
    description: str
    """What it shows, with its main figures, for whoever cannot see it."""
    figure: Figure
    caveats: tuple[str, ...] = ()
    """What changes its reading: it stands in the drawing and in the description, too."""


def inline(name: str, picture: Picture) -> str:
    """Return the `<svg>` element for an HTML page that defines the palette's variables."""
    root = _drawn(name, picture)
    for attribute in ("width", "height"):
        del root.attrib[attribute]
    return ET.tostring(root, "unicode")


def standalone(name: str, picture: Picture) -> str:
    """Return a whole SVG file that brings its colours along, light and dark."""
    root = _drawn(name, picture)
    style = ET.Element(f"{SVG}style")
    style.text = f"{adaptive_css()}text{{font-family:system-ui,sans-serif}}"
    root.insert(2, style)
    return ET.tostring(root, "unicode") + "\n"


def png(picture: Picture) -> bytes:
    """Return it as PNG, in light colours."""
    return _saved(picture, format="png", dpi=PNG_DPI, metadata={"Software": None})


def _saved(picture: Picture, **form: Any) -> bytes:
    """Let matplotlib draw it; what others wrote, such as a profile's name, made visible first."""
    for text in picture.figure.findobj(Text):
        text.set_text(visible(text.get_text()))
    stream = io.BytesIO()
    with mpl.rc_context(STYLE):
        picture.figure.savefig(stream, **form)
    return stream.getvalue()


def _drawn(name: str, picture: Picture) -> ET.Element:
    """Draw it, and keep of matplotlib's file what a page needs: a third of its bytes."""
    # Again, for labels of ticks: an axis makes them anew whenever it is drawn.
    drawn = visible(_saved(picture, format="svg", metadata={"Date": None}).decode())
    ET.register_namespace("", SVG[1:-1])
    root = ET.fromstring(drawn)  # noqa: S314 - matplotlib wrote it
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith("}metadata") or child.tag == f"{SVG}style":
                parent.remove(child)
    used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', drawn))
    styles: dict[str, str] = {}
    for element in root.iter():
        _simplify(element, name, used, styles)
    _unwrap(root)
    rules = "".join(f".{key}{{{value}}}" for value, key in styles.items())
    words = {"title": picture.title, "desc": picture.description}
    for place, (tag, text) in enumerate({**words, "style": rules}.items()):
        element = ET.Element(f"{SVG}{tag}", {} if tag == "style" else {"id": f"{name}-{tag}"})
        element.text = visible(text)
        root.insert(place, element)
    root.attrib |= {"role": "img", "aria-labelledby": f"{name}-title {name}-desc"}
    return root


def _simplify(element: ET.Element, name: str, used: set[str], styles: dict[str, str]) -> None:
    """Give an element its figure's ids, the roles of its colours, and a class for its style."""
    attributes = element.attrib
    if (reference := attributes.pop(XLINK_HREF, None)) is not None:
        attributes["href"] = f"#{name}-{reference[1:]}"
    if (element_id := attributes.pop("id", None)) in used:
        attributes["id"] = f"{name}-{element_id}"
    if "clip-path" in attributes:
        attributes["clip-path"] = attributes["clip-path"].replace("#", f"#{name}-")
    style = attributes.pop("style", None)
    if element.tag == f"{SVG}rect" and "fill" in attributes:  # the ground of a hatching
        style = f"fill: {attributes.pop('fill')}"
    if style is not None:
        style = re.sub(r"#[0-9a-f]{6}\b", _role, style)
        style = re.sub(r"font-family:[^;]*(; |$)|(?<=: ) ", "", style)
        style = style.replace("url(#", f"url(#{name}-")
        attributes["class"] = styles.setdefault(style, f"{name}{len(styles)}")
    for key in ("d", "x", "y", "width", "height", "points", "transform"):
        if key in attributes:
            # Hundredths of a point are finer than any screen.
            value = re.sub(r"(\d+\.\d\d)\d+", r"\1", attributes[key])
            attributes[key] = " ".join(value.split())
    if attributes.get("transform", "").startswith("rotate(-0 "):
        del attributes["transform"]
    element.text = element.text.strip() if element.text and element.text.strip() else None
    element.tail = None


def _unwrap(element: ET.Element) -> None:
    """Replace groups without attributes, of which matplotlib has three around each mark."""
    children: list[ET.Element] = []
    for child in element:
        _unwrap(child)
        if child.tag == f"{SVG}g" and not child.attrib:
            children += list(child)
        elif child.tag != f"{SVG}defs" or len(child):
            children.append(child)
    element[:] = children


def _role(match: re.Match[str]) -> str:
    role = _ROLES.get(match[0])
    return match[0] if role is None else f"var(--{role})"
