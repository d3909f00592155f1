"""ASGI by uvicorn's workers."""

bind = ["0.0.0.0:8000"]
workers = 3
worker_class = "uvicorn_worker.UvicornWorker"
keepalive = 75
graceful_timeout = 25
worker_tmp_dir = "/dev/shm"
