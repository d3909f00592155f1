# The load: Locust with this project's user, engine and judge of replies.
#
#   docker build -t fibonacci-locust -f deploy/locust.Dockerfile .
#   docker run --rm --read-only --tmpfs /tmp fibonacci-locust --headless -u 64 -t 30s -H http://ADDRESS:8080
#
# It loads a server that runs elsewhere. To compare profiles, which starts servers, use a checkout.
ARG BASE=python:3.13-slim

FROM ${BASE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore
WORKDIR /build
COPY requirements/build.txt requirements/locust.txt requirements/
RUN python3 -m venv venv \
    && venv/bin/pip install --require-hashes -r requirements/build.txt \
    && python3 -m venv --without-pip /opt/venv \
    && venv/bin/pip --python /opt/venv/bin/python install --no-compile --only-binary :all: \
        --require-hashes -r requirements/locust.txt
# egg_info: Locust's master asks its workers which version of this project they are.
COPY setup.py pyproject.toml LICENSE ./
COPY lab lab
COPY loadtests loadtests
RUN venv/bin/python setup.py --quiet egg_info \
    && /opt/venv/bin/python -m compileall -q --invalidation-mode unchecked-hash \
        /opt/venv/lib lab


FROM ${BASE}
LABEL org.opencontainers.image.title="fibonacci-locust" \
      org.opencontainers.image.description="Locust with the engine of the lab" \
      org.opencontainers.image.licenses="MIT"
# MPLCONFIGDIR: matplotlib would look for a home that can be written.
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONPATH=/srv \
    PYTHONUNBUFFERED=1 \
    MPLCONFIGDIR=/tmp
WORKDIR /srv
COPY --from=build /opt/venv /opt/venv
COPY --from=build /build/uwsgi_fibonacci_lab.egg-info uwsgi_fibonacci_lab.egg-info
COPY --from=build /build/lab lab
COPY loadtests loadtests
# The names of the profiles are choices of the command line.
COPY uwsgi uwsgi
COPY profiles profiles
# Locust goes on where a listener fails, as where no profile is found; then this option is unknown.
RUN ["locust", "-f", "loadtests/", "--lab-help"]
ENV PYTHONDONTWRITEBYTECODE=1

USER 65534:65534
EXPOSE 8089 5557
# Locust reports and ends.
STOPSIGNAL SIGTERM
ENTRYPOINT ["locust", "-f", "loadtests/"]
CMD ["--host", "http://nginx:8080"]
