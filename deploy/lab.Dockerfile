# The lab: the service's image, and Locust's master, which starts the profiles there.
#
#   docker build -t fibonacci:0.2.0 .
#   docker build -t fibonacci-lab:0.2.0 -f deploy/lab.Dockerfile .
#   docker run --rm --read-only --tmpfs /tmp fibonacci-lab:0.2.0 --headless --quick \
#       --profiles listen tuned --results /tmp/results
#
# deploy/kubernetes-compare.yaml loads its servers from other nodes.
ARG BASE=fibonacci:0.2.0

FROM ${BASE} AS build
# Of the stage that is left behind: the environment belongs to root.
# hadolint ignore=DL3002
USER 0:0
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore
WORKDIR /build
COPY requirements/build.txt requirements/locust.txt requirements/
RUN python3 -m venv venv \
    && venv/bin/pip install --require-hashes -r requirements/build.txt \
    && venv/bin/pip --python /opt/venv/bin/python install --no-compile --only-binary :all: \
        --require-hashes -r requirements/locust.txt
COPY lab lab
RUN /opt/venv/bin/python -m compileall -q --invalidation-mode unchecked-hash /opt/venv/lib lab


FROM ${BASE}
LABEL org.opencontainers.image.title="fibonacci-lab" \
      org.opencontainers.image.description="The lab with its servers, loaded by Locust's workers" \
      org.opencontainers.image.licenses="MIT"
# MPLCONFIGDIR: matplotlib would look for a home that can be written.
ENV PYTHONPATH=/srv \
    MPLCONFIGDIR=/tmp
WORKDIR /srv
COPY --from=build /opt/venv /opt/venv
COPY --from=build /build/lab lab
COPY loadtests loadtests
# Locust goes on where a listener fails, as where no profile is found; then this option is unknown.
RUN ["locust", "-f", "loadtests/", "--lab-help"]

USER 65534:65534
EXPOSE 8089 5557
# It is no service, and has none to ask.
HEALTHCHECK NONE
# Locust reports and ends.
STOPSIGNAL SIGTERM
ENTRYPOINT ["locust", "-f", "loadtests/"]
CMD ["--headless", "--quick", "--results", "/tmp/results"]
