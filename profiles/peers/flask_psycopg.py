"""
An application of Flask that asks PostgreSQL at POSTGRES_URL, by a pool of psycopg's.

The pool is opened at a process's first request: one that is opened before a server's fork would
share its connections between the processes. It has four, its default.
"""

import os

import psycopg
from flask import Flask, Response
from psycopg_pool import ConnectionPool

app = Flask(__name__)
pool = ConnectionPool(os.environ["POSTGRES_URL"], kwargs={"autocommit": True}, open=False)


@app.get("/")
def row() -> Response:
    """Answer what the database holds; with 500 and the driver's words where that fails."""
    if pool.closed:
        pool.open()
    try:
        with pool.connection() as connection:
            found = connection.execute("SELECT body FROM reply WHERE id = 1").fetchone()
    except psycopg.Error as error:
        return Response(f"{error}\n", 500, mimetype="text/plain")
    return Response(found[0], mimetype="text/plain")
