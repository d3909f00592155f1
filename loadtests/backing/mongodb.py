"""Write the document that the workload db asks for: python mongodb.py URL."""

from __future__ import annotations

import sys
from typing import Any

from pymongo import MongoClient

client: MongoClient[dict[str, Any]] = MongoClient(sys.argv[1], serverSelectionTimeoutMS=5000)
with client:
    document = {"_id": 1, "body": "One row of a table"}
    client.lab.reply.replace_one({"_id": 1}, document, upsert=True)
