"""Asks PostgreSQL on a connection of a pool, those that wait in the order in which they came."""

import asyncio

import asyncpg
from tornado.ioloop import IOLoop
from tornado.web import Application
from tornado_postgres import ROW, SIZE, open_pool
from tornado_row import application


def asyncpg_pool(**settings: object) -> Application:
    """Ask on a connection of a pool, in turn."""
    pool = IOLoop.current().run_sync(open_pool)
    turn = asyncio.Semaphore(SIZE)

    async def ask() -> str:
        async with turn:
            return await pool.fetchval(ROW)

    return application(ask, OSError, asyncpg.PostgresError, **settings)
