# The service and the libraries that it loads, on an empty base.

FROM debian:trixie-slim AS build

# yes: take libmicrohttpd's suite from a mirror whose Release file of it has expired.
ARG ALLOW_EXPIRED_RELEASE=no

# trixie's libmicrohttpd 1.0.1 can be crashed by one request, so that one source package comes from forky.
RUN set -eu; \
    apt-get update -q; \
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: trixie' | head -n 1); \
    options=signed-by=/usr/share/keyrings/debian-archive-keyring.gpg; \
    [ "$ALLOW_EXPIRED_RELEASE" != yes ] || options="$options check-valid-until=no"; \
    echo "deb [$options] $mirror forky main" >/etc/apt/sources.list.d/forky.list; \
    printf '%s\n' 'Package: *' 'Pin: release n=forky' 'Pin-Priority: 50' '' \
        'Package: src:libmicrohttpd' 'Pin: release n=forky' 'Pin-Priority: 990' >/etc/apt/preferences.d/forky; \
    apt-get update -q; \
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends gcc libc6-dev make pkg-config \
        libmicrohttpd-dev libgnutls28-dev libjansson-dev libopenblas-pthread-dev zlib1g-dev; \
    pkg-config --exists --print-errors 'libmicrohttpd >= 1.0.10'

WORKDIR /source
COPY . .
ARG REVISION=unknown
RUN make -j2 REVISION="$REVISION" && install -D -s -m 755 build/release/attentiond /image/usr/bin/attentiond

# Each library that the program loads goes where the loader found it; the list of their packages goes with them.
RUN set -eu; \
    libraries=$(ldd /image/usr/bin/attentiond | grep -o '/[^ ]*'); \
    for library in $libraries; do install -D -m 755 "$(readlink -f "$library")" "/image$library"; done; \
    for library in $libraries; do dpkg-query -S "$(readlink -f "$library")"; done | cut -d : -f 1 | sort -u >/tmp/packages; \
    mkdir -p /image/usr/share/attentiond /image/etc; \
    xargs dpkg-query -W </tmp/packages >/image/usr/share/attentiond/packages.txt; \
    cp LICENSE /image/usr/share/attentiond; \
    echo 'attentiond:x:65532:65532::/:/usr/sbin/nologin' >/image/etc/passwd; \
    echo 'attentiond:x:65532:' >/image/etc/group; \
    cat /image/usr/share/attentiond/packages.txt

FROM scratch
ARG VERSION=unknown
ARG REVISION=unknown
ARG CREATED=unknown
LABEL org.opencontainers.image.title="attentiond" \
      org.opencontainers.image.description="Attention, from formula to last digit, as a JSON API over HTTP" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.created="$CREATED"
COPY --from=build /image /
# Parallelism is the program's own: with threads of OpenBLAS beside them its workers are a hundred times slower.
ENV ATTND_LISTEN=0.0.0.0 OPENBLAS_NUM_THREADS=1
USER 65532:65532
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 CMD ["/usr/bin/attentiond", "--healthcheck"]
ENTRYPOINT ["/usr/bin/attentiond"]
