"""What an event loop waits for, as a run of a command says it: planted, and absent."""

import json

import pytest

from tests.kit.lab_process import run

APP = """\
import asyncio, time
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

async def blocked(request):
    time.sleep(0.01)
    return PlainTextResponse("ok")

def pooled(request):
    time.sleep(0.1)
    return PlainTextResponse("ok")

async def waits(request):
    await asyncio.sleep(0.1)
    return PlainTextResponse("ok")

app = Starlette(routes=[Route(f"/{each.__name__}", each) for each in (blocked, pooled, waits)])
"""

CAUSES = {
    "blocked": [("event loop blocked", "cause")],
    "pooled": [("thread pool full", "cause")],
    "waits": [],
}


@pytest.mark.slow
@pytest.mark.parametrize("handler", CAUSES)
@pytest.mark.parametrize("command", ["uvicorn shop:app", "gunicorn --worker-class asgi shop:app"])
def test_a_cause_is_verified_where_it_is_planted(command, handler, tmp_path):
    """And none is named where the handlers wait as they should."""
    (tmp_path / "shop.py").write_text(APP)
    done = run(
        "lab", "run", command, "--path", f"/{handler}", "--server-share", "100%",
        "--blocks", "5", "--results", tmp_path / "results", cwd=tmp_path, timeout=400,
    )  # fmt: skip
    assert done.returncode in {0, 3}, done.stderr
    (summary,) = tmp_path.glob("results/*/summary.json")
    by_profile = json.loads(summary.read_text())["diagnoses"]
    diagnoses = [diagnosis for shown in by_profile.values() for diagnosis in shown]
    assert [(one["cause"], one["standing"]) for one in diagnoses] == CAUSES[handler]
