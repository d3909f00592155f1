"""
The comparison in Locust's web UI: a tab, a page under `/profiles/`, and downloads.

The tab is made of what Locust's own page offers to a plug-in, so nothing is built with JavaScript
tools: rows of plain text, sent along with the statistics that the page asks for every two seconds
while a test runs. The page shows the report itself, of the blocks so far and in the end of all.

Source: Locust 2.47, `locust/web.py` and its `extended_tabs`, `extended_tables`,
`extended_csv_files` and `extended_stats`.
"""

from __future__ import annotations

import csv
import errno
import io
import socket
from collections.abc import Sequence
from typing import Any

from flask import Blueprint, Response, jsonify, redirect, render_template, request
from locust.web import WebUI

from lab.bench import profiles
from lab.errors import LabError, UsageError
from lab.locust.arguments import refuse_form, with_form
from lab.locust.live import COLUMNS, Live
from lab.model.wording import visible
from lab.report.palette import DARK, LIGHT, declarations

TAB = "profiles"
"""Key of the tab and of its table."""

MOST_PORTS = 65536


def check_port(web_ui: WebUI) -> None:
    """
    Refuse a port that Locust cannot listen on: it would print two tracebacks and an empty table.

    Raises:
        UsageError: Another program listens there, or this one may not.
    """
    if (problem := _problem(web_ui.host, web_ui.port)) is None:
        return
    if problem.errno != errno.EADDRINUSE:
        raise UsageError(f"port {web_ui.port} at {web_ui.host or '*'}: {problem.strerror}")
    following = range(web_ui.port + 1, min(web_ui.port + 100, MOST_PORTS))
    free = next((port for port in following if _problem(web_ui.host, port) is None), "PORT")
    raise UsageError(f"port {web_ui.port} is taken: --web-port {free}")


def _problem(host: str, port: int) -> OSError | None:
    """Return why nobody can listen there; None: it is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        return error
    return None


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
                    "title": "Download the comparison's report",
                },
                {
                    "href": "./profiles/",
                    "title": "Follow the comparison: intervals, causes, why trials do not count",
                },
            ],
        }
        app.after_request(self._add_rows)
        assert web_ui.environment.parsed_options is not None
        unselected = list(web_ui.environment.parsed_options.profiles)
        _mend_form(web_ui, unselected)
        _answer_form(web_ui, unselected)
        pages = Blueprint(
            "profiles", __name__, url_prefix=f"{base_path}/profiles", template_folder="templates"
        )
        for rule, view in (
            ("/", self.show),
            ("/data", self.data),
            ("/profiles.csv", self.table),
            ("/<name>.html", self.report),
        ):
            pages.add_url_rule(rule, view.__name__, web_ui.auth_required_if_enabled(view))
        app.register_blueprint(pages)

    # -- views -------------------------------------------------------------------------------------

    def show(self) -> Response:
        """Return the page: how far the run is, and its report in a frame."""
        text = render_template(
            "profiles.html",
            live=self.live,
            pages=self.live.pages.get() if self.live is not None else {},
            light=declarations(LIGHT),
            dark=declarations(DARK),
        )
        return Response(visible(text), headers={"Cache-Control": "no-store"})

    def data(self) -> Response:
        """Return the same for programs, and for the page to follow."""
        live = self.live
        if live is None:
            return jsonify(state="nothing has run", rows=[])
        live.pages.get()
        return jsonify(
            state=live.state,
            progress=live.progress(),
            percent=live.percent,
            now=live.now(),
            rows=list(live.rows()),
            folder=str(live.folder) if live.folder is not None else None,
            edition=live.pages.version,
        )

    def table(self) -> Response:
        """Return the table of profiles as CSV, numbers in full."""
        text = io.StringIO()
        rows = list(self.live.figures()) if self.live is not None else []
        writer = csv.DictWriter(text, list(rows[0]) if rows else ["profile"])
        writer.writeheader()
        writer.writerows(rows)
        return _download(text.getvalue(), "text/csv", "profiles.csv")

    def report(self, name: str) -> Response:
        """Return a page of the report as it is now, or go to the page that waits for it."""
        pages = self.live.pages.get() if self.live is not None else {}
        if self.live is None or f"{name}.html" not in pages:
            return redirect("./")  # type: ignore[return-value] # werkzeug's Response is as good
        text = pages[f"{name}.html"]
        if request.args.get("download"):
            run = self.live.folder.name if self.live.folder is not None else "under-way"
            return _download(text, "text/html", f"{run}{name.removeprefix('report')}.html")
        return Response(visible(text), headers={"Cache-Control": "no-store"})

    # -- the tab -----------------------------------------------------------------------------------

    def _add_rows(self, response: Response) -> Response:
        """Add the table to the statistics; Locust keeps a reply for 2 s, so it may come twice."""
        if request.endpoint == "locust.request_stats" and response.is_json and self.live:
            report: dict[str, Any] = response.get_json()
            rows = [{k: visible(v) for k, v in row.items()} for row in self.live.rows()]
            report["extended_stats"] = [{"key": TAB, "data": rows}]
            response.set_data(jsonify(report).get_data())
        return response


def _mend_form(web_ui: WebUI, unselected: Sequence[str]) -> None:
    """
    Let the form ask for no host, show no doubled %, and select no profile by itself.

    Args:
        web_ui: Locust's.
        unselected: Profiles that are compared where none is selected.
    """
    update = web_ui.update_template_args
    whole = "the whole ladder" if tuple(unselected) == profiles.usual() else ", ".join(unselected)

    def update_and_mend() -> None:
        update()
        # With a host nothing would be compared.
        web_ui.template_args["missing_host_warning"] = False
        options = web_ui.template_args["extra_options"]
        for option in options.values():
            option["help_text"] = option["help_text"].replace("%%", "%")
        options["profiles"] |= {
            "default_value": [],
            "help_text": f"Select several with Ctrl; the topmost is the reference. None: {whole}.",
        }

    web_ui.update_template_args = update_and_mend  # type: ignore[method-assign]


def _answer_form(web_ui: WebUI, unselected: Sequence[str]) -> None:
    """Let the form say what is wrong in it: Locust takes any text, and calls that a success."""
    app, environment = web_ui.app, web_ui.environment
    assert app is not None
    start = app.view_functions["locust.swarm"]

    def swarm() -> Any:
        parsed = environment.parsed_options
        assert parsed is not None
        if "profiles" not in request.form:  # and not those of the run before
            parsed.profiles = list(unselected)
        host = request.form.get("host", environment.host)
        try:
            refuse_form(with_form(parsed, request.form), host)
        except LabError as error:
            return jsonify(success=False, message=str(error), host=host)
        return start()

    app.view_functions["locust.swarm"] = web_ui.auth_required_if_enabled(swarm)


def _download(text: str, kind: str, name: str) -> Response:
    response = Response(visible(text), mimetype=kind)
    response.headers.set("Content-Disposition", "attachment", filename=name)
    return response
