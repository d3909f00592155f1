# The service as an image: uWSGI with profiles/tuned.ini, the sequence compiled.
#
#   docker build -t fibonacci .
#   docker run --rm -p 127.0.0.1:8080:8080 --read-only --cap-drop ALL --tmpfs /tmp fibonacci
#
# On a public address a buffering proxy belongs in front. As one instance behind nginx it takes
# SOCKET and the profile production; compose.yaml and deploy/kubernetes.yaml run two of them:
#   docker run -e SOCKET=/run/fibonacci/a.sock -v run:/run/fibonacci --tmpfs /tmp \
#       fibonacci production
#
# One base for both stages: uWSGI and the extension are bound to the exact interpreter that they
# were built with. Any Debian base with python3, its headers and venv will do:
#   docker build --build-arg BASE=python:3.12-slim .
ARG BASE=python:3.13-slim

FROM ${BASE} AS build
# libpcre2-dev gives uWSGI its internal routing; without it the profiles' rules are refused.
# libcrypt-dev is a part of libc6-dev no more after Debian 13. No versions: Debian drops the old
# ones from its mirrors, and nothing of these packages is shipped.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc libc6-dev libcrypt-dev libpcre2-dev \
    && rm -rf /var/lib/apt/lists/*
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore
WORKDIR /build

# Two environments: the one with pip, Cython and setuptools stays behind in this stage. The slow
# step comes first, so that a change of our code does not compile uWSGI again. It has not the
# plug-ins that tools/setup.sh adds: those are for profiles that are compared, and not deployed.
COPY requirements/build.txt requirements/service.txt requirements/
RUN python3 -m venv /build/venv \
    && /build/venv/bin/pip install --require-hashes -r requirements/build.txt
RUN /build/venv/bin/pip wheel --require-hashes --no-build-isolation --no-binary uwsgi \
        --wheel-dir wheels -r requirements/service.txt \
    && python3 -m venv --without-pip /opt/venv \
    && /build/venv/bin/pip --python /opt/venv/bin/python install --no-compile --no-index \
        --no-deps wheels/*.whl

# egg_info, so that the service can tell its version without being installed.
COPY setup.py pyproject.toml LICENSE ./
COPY fib fib
COPY app app
# Bytecode is made here, once, because the root file system may be read-only. The hash instead of
# the time keeps it valid whatever a copy does to the files' times. No -O: it removes assertions
# from our libraries and nothing that a request would notice.
RUN FIB_BUILD=cython /build/venv/bin/python setup.py --quiet egg_info build_ext --inplace \
    && /opt/venv/bin/python -m compileall -q --invalidation-mode unchecked-hash \
        /opt/venv/lib app fib


FROM ${BASE}
LABEL org.opencontainers.image.title="fibonacci" \
      org.opencontainers.image.description="A Flask Fibonacci service on a tuned uWSGI" \
      org.opencontainers.image.licenses="MIT"
# FIB_REQUIRE_CYTHON: an image whose extension cannot be loaded must not start.
ENV PATH=/opt/venv/bin:$PATH \
    FIB_REQUIRE_CYTHON=1 \
    BIND=0.0.0.0 \
    PORT=8080 \
    PYTHONUNBUFFERED=1
WORKDIR /srv
COPY --from=build /opt/venv /opt/venv
COPY --from=build /build/uwsgi_fibonacci_lab.egg-info uwsgi_fibonacci_lab.egg-info
COPY --from=build /build/fib fib
COPY --from=build /build/app app
COPY deploy/healthy.py deploy/
COPY uwsgi uwsgi
COPY profiles profiles
# For the sockets of production.ini. A new volume takes this folder's owner and mode.
RUN install -d -o 65534 -g 65534 -m 0700 /run/fibonacci
# Nothing is installed here. uWSGI needs libpcre2-8 when it runs, which every Debian base has for
# libselinux; were it missing, the first command would stop the build. The second would do so if
# the extension could not be loaded, and leaves the bytecode of those standard modules that the
# service imports: the base image comes without any.
RUN uwsgi --version && python -c "import app.wsgi, app.serve"
# Only now: from here on nothing could or should be written.
ENV PYTHONDONTWRITEBYTECODE=1

# By number, so that Kubernetes can see that it is not root (runAsNonRoot).
USER 65534:65534
EXPOSE 8080
# In exec form, no shell and no curl. With SOCKET it asks there, as nginx would.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
    CMD ["python", "deploy/healthy.py"]
# Both profiles hook this signal: uWSGI then finishes the requests it has accepted and ends. Give it
# as long as its slowest request: docker stop -t, terminationGracePeriodSeconds.
STOPSIGNAL SIGTERM
# `fibonacci serve`, which becomes uWSGI.
ENTRYPOINT ["python", "-m", "app.serve", "serve"]
CMD ["tuned"]
