# Images of the program and nothing else: `docker build --target serve .` and `docker build --target view .`
# docs/containers.md says how to run them; packages/try_image.py tries their roots without an engine.

FROM rust:1.95-alpine AS build
RUN apk add --no-cache ca-certificates musl-dev
WORKDIR /source
COPY Cargo.toml Cargo.lock ./
COPY crates crates
RUN cargo build --locked --release -p juror
# The root of the image: certificates for models over TLS, a folder for data, one for temporary files.
RUN mkdir -p /image/data /image/tmp /image/etc/ssl/certs \
    && cp target/release/juror /image/juror \
    && cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ \
    && chmod 1777 /image/tmp && chown 65532:65532 /image/data

FROM scratch AS base
COPY --from=build /image/ /
USER 65532:65532
WORKDIR /data
VOLUME /data
ENTRYPOINT ["/juror"]

# Runs in /data as web pages. JUROR_VIEW_TOKEN has to be set: others can reach this.
FROM base AS view
EXPOSE 8090
HEALTHCHECK --interval=30s --timeout=6s --start-period=5s CMD ["/juror", "health", "http://127.0.0.1:8090"]
CMD ["view", "/data", "--host", "0.0.0.0"]

# Virtual tools of /data/tools; replies are kept in /data/.juror. JUROR_TOKEN has to be set: others can reach this.
FROM base AS serve
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=6s --start-period=30s CMD ["/juror", "health", "http://127.0.0.1:8080"]
CMD ["serve", "--tools", "/data/tools", "--host", "0.0.0.0"]
