# wick in a container: one static binary, no shell, no root.
#   docker build -t wick . && docker run --rm -p 127.0.0.1:9315:9315 -e WICK_PASSPHRASE=… wick
FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w -buildid=' -o /wick . && mkdir -m 0700 /data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /wick /wick
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
VOLUME /data
EXPOSE 9315
ENV WICK_LISTEN=0.0.0.0 WICK_DATA_DIR=/data WICK_SERVE=true
HEALTHCHECK --interval=30s --timeout=5s --start-period=2s CMD ["/wick", "--healthcheck"]
LABEL org.opencontainers.image.title="wick" \
      org.opencontainers.image.description="Charts, indicators, alerts and paper trading over MCP" \
      org.opencontainers.image.licenses="MIT"
ENTRYPOINT ["/wick"]
