# wick in a container: one static binary, no shell, no root. Nothing is pulled:
# scripts/rootfs builds all that is in the image.
#   scripts/rootfs && docker build -t wick . && docker run --rm -p 127.0.0.1:9315:9315 -e WICK_BASE_URL=https://wick.example.com -e WICK_PASSPHRASE=… wick
FROM scratch
COPY dist/rootfs/etc /etc
COPY dist/rootfs/wick /wick
COPY --chown=65532:65532 dist/rootfs/data /data
USER 65532:65532
VOLUME /data
EXPOSE 9315
ENV WICK_LISTEN=0.0.0.0 WICK_DATA_DIR=/data WICK_SERVE=true WICK_EXIT_WHEN_BROKEN=true
HEALTHCHECK --interval=30s --timeout=5s --start-period=2s CMD ["/wick", "--healthcheck"]
LABEL org.opencontainers.image.title="wick" \
      org.opencontainers.image.description="Charts, indicators, alerts and paper trading over MCP" \
      org.opencontainers.image.licenses="MIT"
ENTRYPOINT ["/wick"]
