"""
Applications of Tornado that ask MariaDB at MARIADB_SOCKET, by aiomysql or asyncmy.

A pool is opened before the first request, and grows to ten connections, the default of both.
"""

import os
from types import ModuleType

import aiomysql
import asyncmy
from asyncmy.errors import MySQLError
from pymysql import MySQLError as PyMySQLError
from tornado.ioloop import IOLoop
from tornado.web import Application
from tornado_row import application

SERVER = {"unix_socket": os.environ["MARIADB_SOCKET"], "user": "lab", "db": "lab"}
ROW = "SELECT body FROM reply WHERE id = 1"


def pooled(driver: ModuleType, failure: type[Exception], **settings: object) -> Application:
    """Ask on a connection of a pool of *driver*, which has the same names in both."""

    async def opened() -> object:
        return await driver.create_pool(autocommit=True, **SERVER)

    pool = IOLoop.current().run_sync(opened)

    async def ask() -> str:
        async with pool.acquire() as connection, connection.cursor() as cursor:
            await cursor.execute(ROW)
            return (await cursor.fetchone())[0]

    return application(ask, OSError, failure, **settings)


def aiomysql_pool(**settings: object) -> Application:
    """Ask on a connection of aiomysql's pool."""
    return pooled(aiomysql, PyMySQLError, **settings)


def asyncmy_pool(**settings: object) -> Application:
    """Ask on a connection of asyncmy's pool."""
    return pooled(asyncmy, MySQLError, **settings)
