# Compiles guests in C, C++, Rust, Go, Python and JavaScript, with the headers, crate and module of guest/ in
# /opt/wasinn/guest. scripts/package/images.sh builds it. Mount the folder with a guest's sources at /work.
ARG BASE=docker.io/library/debian:bookworm-slim
FROM ${BASE}
COPY scripts /opt/wasinn/scripts
COPY include /opt/wasinn/include
COPY guest /opt/wasinn/guest
COPY examples /opt/wasinn/examples
COPY provide.sh /
# In three layers, so that finished parts need not be built again.
RUN sh /provide.sh guest component-guests
RUN sh /provide.sh go-guests
RUN sh /provide.sh rust-guests
# A user with a name, because the initialization of components in JavaScript asks for its home folder.
RUN groupadd --gid 65532 nonroot && useradd --uid 65532 --gid 65532 --home-dir /tmp --no-create-home nonroot \
    && mkdir /work && chown 65532:65532 /work
ENV PATH=/opt/wasinn/.deps/component-tools/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp
USER 65532:65532
WORKDIR /work
CMD ["bash"]
