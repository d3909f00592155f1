"""
Serve an application of Tornado, made by a function, on the loop that is named.

    python tornado_server.py 127.0.0.1:7000 --loop uvloop tornado_handlers:hello

Since Tornado 5 its own loop is asyncio's. `--loop ioloop` is the one that it had before, for
Tornado 4.5 on Python 3.6, which run this file, too. The queue of connections is as long as the
other servers', where Tornado's own has 128 places.
"""

import argparse
import asyncio
import sys
from importlib import import_module

import tornado
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.log import enable_pretty_logging
from tornado.netutil import bind_sockets

parser = argparse.ArgumentParser()
parser.add_argument("address")
parser.add_argument("--loop", choices=["asyncio", "uvloop", "ioloop"], default="asyncio")
parser.add_argument("--logging", action="store_true", help="a line for each request")
parser.add_argument("app")
asked = parser.parse_args()

if asked.loop != "ioloop":
    asyncio.set_event_loop(import_module(asked.loop).new_event_loop())
    if tornado.version_info < (5,):
        import_module("tornado.platform.asyncio").AsyncIOMainLoop().install()
if asked.logging:
    import_module("tornado.options")  # has the level that is logged
    enable_pretty_logging()
sys.path.insert(0, "")
module, _, name = asked.app.partition(":")
host, _, port = asked.address.rpartition(":")
server = HTTPServer(getattr(import_module(module), name)(debug=asked.logging))
server.add_sockets(bind_sockets(int(port), host, backlog=1024))
IOLoop.current().start()
