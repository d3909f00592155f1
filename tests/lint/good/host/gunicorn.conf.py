"""Behind nginx on the same machine, reached by a UNIX socket."""

bind = "unix:/run/shop/gunicorn.sock"
umask = 0o117
workers = 4
timeout = 30
graceful_timeout = 30
max_requests = 2000
max_requests_jitter = 200
preload_app = True
worker_tmp_dir = "/dev/shm"
forwarded_allow_ips = "*"
errorlog = "-"
loglevel = "info"
