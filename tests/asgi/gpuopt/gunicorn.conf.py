# Pattern: 024-code/GPUOpt, gunicorn.conf.py, c5fbfa77: variables with defaults.
import multiprocessing
import os

bind = os.getenv("SHOP_HOST", "0.0.0.0") + ":" + os.getenv("SHOP_PORT", "8080")
worker_class = "uvicorn.workers.UvicornWorker"
workers = int(os.getenv("SHOP_WORKERS", str(multiprocessing.cpu_count() * 2 + 1)))
timeout = int(os.getenv("SHOP_TIMEOUT", "120"))
graceful_timeout = int(os.getenv("SHOP_GRACEFUL_TIMEOUT", "30"))
keepalive = int(os.getenv("SHOP_KEEPALIVE", "5"))
max_requests = int(os.getenv("SHOP_MAX_REQUESTS", "10000"))
max_requests_jitter = int(os.getenv("SHOP_MAX_REQUESTS_JITTER", "1000"))
preload_app = True
reload = os.getenv("SHOP_ENV", "production") != "production"
accesslog = os.getenv("SHOP_ACCESS_LOG", "-")
errorlog = os.getenv("SHOP_ERROR_LOG", "-")
loglevel = os.getenv("SHOP_LOG_LEVEL", "info").lower()
