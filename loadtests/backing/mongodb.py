"""Write the document that the workload db asks for: python mongodb.py URL."""

from __future__ import annotations

import sys


def main(url: str) -> None:
    """Write it, over what may be there."""
    # Not above: Locust imports each file of this folder, also where the driver is not installed.
    from pymongo import MongoClient  # noqa: PLC0415

    document: dict[str, object] = {"_id": 1, "body": "One row of a table"}
    client: MongoClient[dict[str, object]] = MongoClient(url, serverSelectionTimeoutMS=5000)
    with client:
        client.lab.reply.replace_one({"_id": 1}, document, upsert=True)


if __name__ == "__main__":
    main(sys.argv[1])
