# The service and the libraries that it loads, on an empty base.
# It is compiled on the machine that builds, for TARGETARCH (amd64, arm64; BuildKit sets it from --platform).

# By digest where one can be had: BASE=debian:trixie-slim@sha256:...
ARG BASE=debian:trixie-slim
ARG BUILDPLATFORM
FROM --platform=${BUILDPLATFORM:-linux/amd64} $BASE AS build

# yes: take libmicrohttpd's suite from a mirror whose Release file of it has expired.
ARG ALLOW_EXPIRED_RELEASE=no
ARG TARGETARCH

# trixie's libmicrohttpd 1.0.1 can be crashed by one request, so that one source package comes from forky.
# (:any, since a pin by source alone is for this machine's architecture.)
RUN set -eu; \
    target=${TARGETARCH:-$(dpkg --print-architecture)}; \
    case $target in amd64) triplet=x86_64-linux-gnu ;; arm64) triplet=aarch64-linux-gnu ;; esac; \
    printf 'target=%s triplet=%s\n' "$target" "$triplet" >/target; \
    dpkg --add-architecture "$target"; \
    apt-get update -q; \
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: trixie' | head -n 1); \
    options=signed-by=/usr/share/keyrings/debian-archive-keyring.gpg; \
    [ "$ALLOW_EXPIRED_RELEASE" != yes ] || options="$options check-valid-until=no"; \
    echo "deb [$options] $mirror forky main" >/etc/apt/sources.list.d/forky.list; \
    printf '%s\n' 'Package: *' 'Pin: release n=forky' 'Pin-Priority: 50' '' \
        'Package: src:libmicrohttpd:any' 'Pin: release n=forky' 'Pin-Priority: 990' >/etc/apt/preferences.d/forky; \
    apt-get update -q; \
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends make binutils gcc libc6-dev "gcc-$(echo $triplet | tr _ -)" \
        libc6-dev:$target pkgconf:$target libmicrohttpd-dev:$target libgnutls28-dev:$target \
        libjansson-dev:$target libopenblas-pthread-dev:$target zlib1g-dev:$target libzstd-dev:$target \
        libisal-dev:$target; \
    $triplet-pkg-config --exists --print-errors 'libmicrohttpd >= 1.0.10'

WORKDIR /source
COPY . .
ARG REVISION=unknown
RUN . /target; \
    make -j2 REVISION="$REVISION" CC=$triplet-gcc AR=$triplet-ar PKG_CONFIG=$triplet-pkg-config && \
    install -D -m 755 build/release/attentiond /image/usr/bin/attentiond && \
    $triplet-strip /image/usr/bin/attentiond

# What the program loads goes with it, and of each Debian package that this is from its record, as scanners look for it, and
# its licences.
RUN set -eu; . /target; \
    docker/collect.sh /image/usr/bin/attentiond /image $triplet >/tmp/libraries; \
    xargs dpkg-query -S </tmp/libraries | sed 's/: .*//' | sort -u >/tmp/packages; \
    mkdir -p /image/var/lib/dpkg/status.d /image/etc; \
    while IFS=: read -r name architecture; do \
        dpkg-query -s "$name${architecture:+:$architecture}" >"/image/var/lib/dpkg/status.d/$name"; \
        install -D -m 644 "/usr/share/doc/$name/copyright" "/image/usr/share/doc/$name/copyright"; \
    done </tmp/packages; \
    install -D -m 644 LICENSE /image/usr/share/doc/attentiond/LICENSE; \
    echo 'attentiond:x:65532:65532::/:/usr/sbin/nologin' >/image/etc/passwd; \
    echo 'attentiond:x:65532:' >/image/etc/group; \
    xargs dpkg-query -W </tmp/packages

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
