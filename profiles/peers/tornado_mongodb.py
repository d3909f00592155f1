"""Applications of Tornado that ask MongoDB at MONGODB_URL, by PyMongo or motor."""

import os

from motor.motor_tornado import MotorClient
from pymongo import AsyncMongoClient
from pymongo.errors import PyMongoError
from tornado.web import Application
from tornado_row import application

URL = os.environ["MONGODB_URL"]
ROW = {"_id": 1}


def pymongo(**settings: object) -> Application:
    """Ask by one client, which keeps up to 100 connections."""
    reply = AsyncMongoClient(URL).lab.reply

    async def ask() -> str:
        return (await reply.find_one(ROW))["body"]

    return application(ask, PyMongoError, **settings)


def pymongo_each(**settings: object) -> Application:
    """Make a client for each request, as the article's application did with motor's."""

    async def ask() -> str:
        async with AsyncMongoClient(URL) as client:
            return (await client.lab.reply.find_one(ROW))["body"]

    return application(ask, PyMongoError, **settings)


def motor(**settings: object) -> Application:
    """Ask by one client of motor's, whose work is done by threads."""
    reply = MotorClient(URL).lab.reply

    async def ask() -> str:
        return (await reply.find_one(ROW))["body"]

    return application(ask, PyMongoError, **settings)
