"""An image behind a load balancer that keeps connections for 60 s."""

import os

bind = f"0.0.0.0:{os.environ.get('PORT', '8000')}"
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
worker_class = "gthread"
threads = 8
keepalive = 75
max_requests = 5000
max_requests_jitter = 500
worker_tmp_dir = "/dev/shm"
accesslog = "-"
