# nginx with the configuration that the tests run, byte for byte: a file that is mounted, or copied
# into a manifest, can come to differ from it.
#
#   docker build -t fibonacci-nginx -f deploy/nginx.Dockerfile .
ARG NGINX=nginx:1.30-alpine

FROM ${NGINX}
LABEL org.opencontainers.image.title="fibonacci-nginx" \
      org.opencontainers.image.description="nginx in front of two instances of fibonacci" \
      org.opencontainers.image.licenses="MIT"
# The base links both log files to the standard streams, which belong to the user that a container
# is started as. So it is started as the right one, by number, and the configuration names none.
COPY profiles/production.nginx.conf /etc/nginx/nginx.conf
USER 65534:65534
EXPOSE 8080 8081
# Through nginx to an instance. The proxy of the environment has no part in it.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
    CMD ["curl", "--fail", "--silent", "--output", "/dev/null", "--noproxy", "*", "http://127.0.0.1:8080/readyz"]
# Finish what is under way; SIGTERM would cut it off.
STOPSIGNAL SIGQUIT
# Not the base's own entry point, which rewrites configurations.
ENTRYPOINT ["nginx"]
CMD ["-g", "daemon off;"]
