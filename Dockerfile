# mustlink on OpenBLAS and LAPACKE, in a small image that runs as an ordinary user.
#   make image
#   docker run --rm -v "$PWD:/data" mustlink info
#
# Images are named by digest and packages by version, so that a build today is a build next year.
# To renew a digest: docker buildx imagetools inspect golang:1.26.6-bookworm
ARG GO_IMAGE=golang:1.26.6-bookworm@sha256:116d58cbd88c1297624acc6e967a060012422bacf9930927e23fb719189c6f36
ARG DEBIAN_IMAGE=debian:bookworm-slim@sha256:7b140f374b289a7c2befc338f42ebe6441b7ea838a042bbd5acbfca6ec875818

FROM ${GO_IMAGE} AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends libopenblas-dev=0.3.21+ds-4 liblapacke-dev=3.11.0-2 \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN go build -tags netlib -trimpath -ldflags="-s -w" -o /out/mustlink ./cmd/mustlink

FROM ${DEBIAN_IMAGE}
RUN apt-get update \
 && apt-get install -y --no-install-recommends libopenblas0-pthread=0.3.21+ds-4 liblapacke=3.11.0-2 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 10001 mustlink
COPY --from=build /out/mustlink /usr/local/bin/mustlink
USER mustlink
WORKDIR /data
ENTRYPOINT ["mustlink"]
CMD ["--help"]
