"""
The comparison in Locust's web UI: a tab, pages under `/profiles/`, and downloads.

The tab is made of what Locust's own page offers to a plug-in, so nothing is built with JavaScript
tools: rows of plain text, sent along with the statistics that the page asks for every two seconds
while a test runs. What does not fit there has a page of its own.

Source: Locust 2.47, `locust/web.py` and its `extended_tabs`, `extended_tables`,
`extended_csv_files` and `extended_stats`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from flask import Blueprint, Response, jsonify, redirect, render_template, request
from locust.web import WebUI

from lab.locust.live import COLUMNS, MEDIANS, RATIOS, Live, cause
from lab.model import METRICS, Comparison
from lab.report.palette import DARK, LIGHT, declarations
from lab.report.tables import document

TAB = "profiles"
"""Key of the tab and of its table."""


class Pages:
    """What the web UI shows of comparisons: the one under way, else the last one."""

    def __init__(self, web_ui: WebUI, base_path: str) -> None:
        """
        Add the tab, the pages and the downloads to *web_ui*.

        Args:
            web_ui: Locust's, before it answers its first request.
            base_path: What its addresses begin with: "" or, for example, "/locust".
        """
        self.live: Live | None = None
        """None until the first comparison begins."""
        app = web_ui.app
        assert app is not None
        web_ui.template_args |= {
            "extended_tabs": [{"key": TAB, "title": "Profiles"}],
            "extended_tables": [
                {"key": TAB, "structure": [{"key": k, "title": t} for k, t in COLUMNS.items()]}
            ],
            "extended_csv_files": [
                {"href": "./profiles/profiles.csv", "title": "Download profiles CSV"},
                {
                    "href": "./profiles/report.html?download=1",
                    "title": "Download the comparison's report, after its end",
                },
                {
                    "href": "./profiles/",
                    "title": "Follow the comparison: intervals, causes, why trials do not count",
                },
            ],
        }
        app.after_request(self._add_rows)
        _ask_for_no_host(web_ui)
        pages = Blueprint(
            "profiles", __name__, url_prefix=f"{base_path}/profiles", template_folder="templates"
        )
        for rule, view in (
            ("/", self.show),
            ("/data", self.data),
            ("/profiles.csv", self.table),
            ("/report.html", self.report),
        ):
            pages.add_url_rule(rule, view.__name__, web_ui.auth_required_if_enabled(view))
        app.register_blueprint(pages)

    # -- views -------------------------------------------------------------------------------------

    def show(self) -> Response:
        """Return the page of the run under way; after its end the report, in a frame."""
        live = self.live
        text = render_template(
            "profiles.html",
            live=live,
            content=document(live.summary) if live is not None else None,
            light=declarations(LIGHT),
            dark=declarations(DARK),
        )
        return Response(text, headers={"Cache-Control": "no-store"})

    def data(self) -> Response:
        """Return the same for programs."""
        live = self.live
        if live is None:
            return jsonify(state="nothing has run", rows=[])
        return jsonify(
            state=live.state,
            progress=live.progress(),
            now=live.now(),
            rows=list(live.rows()),
            folder=str(live.folder) if live.folder is not None else None,
        )

    def table(self) -> Response:
        """Return the table of profiles as CSV, numbers in full."""
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(_CSV_COLUMNS)
        if self.live is not None:
            writer.writerows(_csv_rows(self.live))
        return _download(text.getvalue(), "text/csv", "profiles.csv")

    def report(self) -> Response:
        """Return the report of the last run; while one is under way, go to its page."""
        live = self.live
        if live is None or live.under_way or live.folder is None:
            return redirect("./")  # type: ignore[return-value] # werkzeug's Response is as good
        text = (live.folder / "report.html").read_text(encoding="utf-8")
        if request.args.get("download"):
            return _download(text, "text/html", f"{live.folder.name}.html")
        return Response(text)

    # -- the tab -----------------------------------------------------------------------------------

    def _add_rows(self, response: Response) -> Response:
        """Add the table to the statistics; Locust keeps a reply for 2 s, so it may come twice."""
        if request.endpoint == "locust.request_stats" and response.is_json and self.live:
            report: dict[str, Any] = response.get_json()
            report["extended_stats"] = [{"key": TAB, "data": list(self.live.rows())}]
            response.set_data(jsonify(report).get_data())
        return response


def _ask_for_no_host(web_ui: WebUI) -> None:
    """Take Locust's wish for a host off its form: with one, nothing would be compared."""
    update = web_ui.update_template_args

    def update_without_wish() -> None:
        update()
        web_ui.template_args["missing_host_warning"] = False

    web_ui.update_template_args = update_without_wish  # type: ignore[method-assign]


def _download(text: str, kind: str, name: str) -> Response:
    response = Response(text, mimetype=kind)
    response.headers.set("Content-Disposition", "attachment", filename=name)
    return response


_CSV_COLUMNS = (
    "profile",
    "trials",
    "planned",
    "valid",
    *(f"{name} [{METRICS[name].unit}]" for name in MEDIANS),
    *(f"{name} {what}" for name in RATIOS for what in ("ratio", "low", "high", "n", "verdict")),
    "limited by",
)


def _csv_rows(live: Live) -> Iterator[list[object]]:
    summary = live.summary
    steps = {step.profile: step.baseline for step in summary.steps}
    for row in summary.rows:
        compared = steps.get(row.profile.name, {})
        medians = (row.values.get(name) for name in MEDIANS)
        yield [
            row.profile.name,
            row.total,
            summary.run.plan.blocks,
            row.valid,
            *(
                None if value is None else float(f"{value * METRICS[name].scale:.6g}")
                for name, value in zip(MEDIANS, medians, strict=True)
            ),
            *(cell for name in RATIOS for cell in _ratio_cells(compared.get(name))),
            cause(summary, row.profile.name),
        ]


def _ratio_cells(comparison: Comparison | None) -> tuple[object, ...]:
    if comparison is None or comparison.ratio is None:
        return (None,) * 5
    ratio = comparison.ratio
    return ratio.value, ratio.low, ratio.high, ratio.n, comparison.verdict.value
