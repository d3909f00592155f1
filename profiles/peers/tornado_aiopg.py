"""An application of Tornado that asks PostgreSQL at POSTGRES_URL, by aiopg on psycopg 2."""

import os

import aiopg
import psycopg2
from tornado.ioloop import IOLoop
from tornado.web import Application
from tornado_row import application

URL = os.environ["POSTGRES_URL"]
ROW = "SELECT body FROM reply WHERE id = 1"
SIZE = 10


def pooled(**settings: object) -> Application:
    """Ask on a connection of aiopg's pool, which knows no transactions but by a command."""
    pool = IOLoop.current().run_sync(lambda: aiopg.create_pool(URL, minsize=SIZE, maxsize=SIZE))

    async def ask() -> str:
        async with pool.acquire() as connection, connection.cursor() as cursor:
            await cursor.execute(ROW)
            return (await cursor.fetchone())[0]

    return application(ask, OSError, psycopg2.Error, **settings)
