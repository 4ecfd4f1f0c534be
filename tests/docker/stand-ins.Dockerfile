# nginx and Prometheus from Debian packages: for tests where their own images cannot be pulled.

FROM debian:trixie-slim AS base
ARG ALLOW_EXPIRED_RELEASE=no
# trixie's nginx is older than 1.27.3, so that it comes from forky.
RUN set -eu; \
    apt-get update -q; \
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: trixie' | head -n 1); \
    options=signed-by=/usr/share/keyrings/debian-archive-keyring.gpg; \
    [ "$ALLOW_EXPIRED_RELEASE" != yes ] || options="$options check-valid-until=no"; \
    echo "deb [$options] $mirror forky main" >/etc/apt/sources.list.d/forky.list; \
    printf '%s\n' 'Package: *' 'Pin: release n=forky' 'Pin-Priority: 50' >/etc/apt/preferences.d/forky; \
    apt-get update -q; \
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends nginx/forky prometheus

FROM base AS nginx
STOPSIGNAL SIGQUIT

FROM base AS prometheus
RUN install -d -o 65534 -g 65534 /prometheus
ENTRYPOINT ["/usr/bin/prometheus"]
