"""
Applications of Tornado that ask PostgreSQL at POSTGRES_URL, by asyncpg or psycopg.

A pool is opened before the first request, and holds ten connections, which is asyncpg's default.
"""

import os

import asyncpg
import psycopg
import psycopg_pool
from tornado.ioloop import IOLoop
from tornado.web import Application
from tornado_row import application

URL = os.environ["POSTGRES_URL"]
ROW = "SELECT body FROM reply WHERE id = 1"
SIZE = 10


def asyncpg_connect(**settings: object) -> Application:
    """Connect for each request."""

    async def ask() -> str:
        connection = await asyncpg.connect(URL)
        try:
            return await connection.fetchval(ROW)
        finally:
            await connection.close()

    return application(ask, OSError, asyncpg.PostgresError, **settings)


async def open_pool() -> asyncpg.Pool:
    """Return a pool of asyncpg's, whose connections are there."""
    return await asyncpg.create_pool(URL, min_size=SIZE, max_size=SIZE)


def asyncpg_pool(**settings: object) -> Application:
    """Ask on a connection of a pool."""
    pool = IOLoop.current().run_sync(open_pool)

    async def ask() -> str:
        return await pool.fetchval(ROW)

    return application(ask, OSError, asyncpg.PostgresError, **settings)


def asyncpg_transaction(**settings: object) -> Application:
    """Ask for the whole table in a transaction, as the article's application did."""
    pool = IOLoop.current().run_sync(open_pool)

    async def ask() -> str:
        async with pool.acquire() as connection, connection.transaction():
            rows = await connection.fetch("SELECT * FROM reply")
        return rows[0]["body"]

    return application(ask, OSError, asyncpg.PostgresError, **settings)


def psycopg_pooled(**settings: object) -> Application:
    """Ask on a connection of psycopg's pool, without a transaction."""
    own = {"autocommit": True}
    pool = psycopg_pool.AsyncConnectionPool(URL, min_size=SIZE, kwargs=own, open=False)
    IOLoop.current().run_sync(lambda: pool.open(wait=True))

    async def ask() -> str:
        async with pool.connection() as connection:
            return (await (await connection.execute(ROW)).fetchone())[0]

    return application(ask, psycopg.Error, **settings)
