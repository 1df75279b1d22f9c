# mustlink on OpenBLAS and LAPACKE, in a small image that runs as an ordinary user.
#   docker build -t mustlink .
#   docker run --rm -v "$PWD:/data" mustlink info
FROM golang:1.26-bookworm AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends gcc libc6-dev libopenblas-dev liblapacke-dev pkg-config \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN go build -tags netlib -trimpath -ldflags="-s -w" -o /out/mustlink ./cmd/mustlink

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends libopenblas0-pthread liblapacke \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 10001 mustlink
COPY --from=build /out/mustlink /usr/local/bin/mustlink
USER mustlink
WORKDIR /data
ENTRYPOINT ["mustlink"]
CMD ["--help"]
