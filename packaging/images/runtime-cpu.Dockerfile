# `wasinn serve` with ONNX Runtime and TensorFlow Lite on CPUs, and nothing else: no shell, no package manager.
# scripts/package/images.sh builds it; its folder wasinn/ is the installed prefix. Mount a folder with models at
# /models.
ARG BASE=docker.io/library/debian:bookworm-slim
FROM ${BASE} AS files
COPY collect.sh /
COPY wasinn /image/opt/wasinn
COPY status.d /image/var/lib/dpkg/status.d
RUN sh /collect.sh /image

FROM scratch
COPY --from=files /image /
ENV PATH=/opt/wasinn/bin XDG_CACHE_HOME=/var/cache/wasinn
USER 65532:65532
WORKDIR /
EXPOSE 8000 8002
ENTRYPOINT ["/opt/wasinn/bin/wasinn", "serve"]
CMD ["--host", "0.0.0.0", "--models", "/models"]
