# runtime-cpu with ONNX Runtime's CUDA build and NVIDIA's libraries of its version. The host only has the driver, which
# NVIDIA's container toolkit adds. scripts/package/images.sh builds it; scripts/ is that of this repository, which knows
# versions and hashes.
ARG BASE=docker.io/library/debian:bookworm-slim
FROM ${BASE} AS cuda
COPY scripts /build/scripts
COPY include /build/include
RUN apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-pip \
    && XDG_CACHE_HOME=/build/cache /build/scripts/deps.sh onnxruntime-cuda

FROM ${BASE} AS files
COPY collect.sh /
COPY wasinn /image/opt/wasinn
COPY status.d /image/var/lib/dpkg/status.d
COPY --from=cuda /build/.deps/cuda/13 /image/opt/wasinn/lib/wasinn/frameworks
RUN rm -f /image/opt/wasinn/lib/wasinn/libonnxruntime*.so* && sh /collect.sh /image

FROM scratch
COPY --from=files /image /
ENV PATH=/opt/wasinn/bin XDG_CACHE_HOME=/var/cache/wasinn \
    LD_LIBRARY_PATH=/opt/wasinn/lib/wasinn/frameworks/nvidia/cudnn/lib:/opt/wasinn/lib/wasinn/frameworks/nvidia/cu13/lib \
    NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 65532:65532
WORKDIR /
EXPOSE 8000 8002
ENTRYPOINT ["/opt/wasinn/bin/wasinn", "serve"]
CMD ["--host", "0.0.0.0", "--models", "/models"]
