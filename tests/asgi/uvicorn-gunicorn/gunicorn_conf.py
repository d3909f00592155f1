# Pattern: tiangolo/uvicorn-gunicorn-docker, docker-images/gunicorn_conf.py, 01668464:
# names that the file itself reads, and defaults of variables.
import json
import multiprocessing
import os

per_core = float(os.getenv("WORKERS_PER_CORE", "1"))
concurrency = os.getenv("WEB_CONCURRENCY", None)
host = os.getenv("HOST", "0.0.0.0")
port = os.getenv("PORT", "80")
address = os.getenv("BIND", None)
address = address if address else f"{host}:{port}"
cores = multiprocessing.cpu_count()
count = int(concurrency) if concurrency else max(int(per_core * cores), 2)
kind = os.getenv("WORKER_CLASS", "uvicorn.workers.UvicornWorker")
graceful = os.getenv("GRACEFUL_TIMEOUT", "120")
limit = os.getenv("TIMEOUT", "120")
idle = os.getenv("KEEP_ALIVE", "120")

workers = count
bind = address
worker_class = kind
graceful_timeout = int(graceful)
timeout = int(limit)
keepalive = int(idle)
errorlog = "-"
worker_tmp_dir = "/dev/shm"
print(json.dumps({"workers": workers, "per_core": per_core, "host": host, "port": port}))
