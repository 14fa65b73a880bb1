# x86-64 and aarch64:  docker build -t paretosoc .
# On a Jetson, over NVIDIA's l4t-jetpack image of its release:
#   docker build -t paretosoc --build-arg BASE=IMAGE .
ARG BASE=python:3.11-slim

# hadolint ignore=DL3006
FROM ${BASE} AS python
# hadolint ignore=DL3008
RUN command -v python3.11 || { apt-get update \
    && apt-get install --yes --no-install-recommends python3.11 python3.11-venv \
    && rm -rf /var/lib/apt/lists/*; }

FROM python AS build
WORKDIR /src
COPY . .
RUN python3.11 -m venv /opt/paretosoc \
    && /opt/paretosoc/bin/python -m pip install --no-cache-dir '.[deploy,proofs]'

FROM python
COPY --from=build /opt/paretosoc /opt/paretosoc
# Machine code of the kernels depends on the processor: it is kept in a volume.
ENV PATH=/opt/paretosoc/bin:$PATH NUMBA_CACHE_DIR=/var/cache/paretosoc
RUN useradd --uid 1000 --create-home paretosoc \
    && mkdir -p /var/cache/paretosoc /data \
    && chown 1000 /var/cache/paretosoc /data
USER 1000
VOLUME /var/cache/paretosoc
WORKDIR /data
ENTRYPOINT ["dse"]
