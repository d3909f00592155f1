# Pattern: 24f2009046/TDS-Data-Analyst-Agent, gunicorn.conf.py, 5b16a5dd: limits.
import multiprocessing
import os

bind = f"0.0.0.0:{os.getenv('PORT', '8000')}"
workers = 1
worker_class = "uvicorn.workers.UvicornWorker"
timeout = 180
keepalive = 5
max_requests = 1000
max_requests_jitter = 50
loglevel = "info"
accesslog = "-"
errorlog = "-"
proc_name = "shop"
worker_tmp_dir = "/dev/shm"
preload_app = True
limit_request_line = 4094
limit_request_fields = 100
limit_request_field_size = 8190
