# syntax=docker/dockerfile:1
# The service with its console. Build: docker build -t tildebase . — Run: docker compose -f deploy/compose.yaml up
FROM node:24-bookworm-slim AS build
WORKDIR /repository
COPY . .
RUN npm ci --no-audit --no-fund \
 && npm run build \
 && npm run image -- /image

FROM gcr.io/distroless/nodejs24-debian12:nonroot
COPY --from=build /image/app/ /app/
COPY --from=build --chown=65532:65532 /image/data/ /data/
# With two arenas and fixed limits the C library gives back more of the memory that several threads have freed.
ENV NODE_ENV=production \
    MALLOC_ARENA_MAX=2 \
    MALLOC_MMAP_THRESHOLD_=131072 \
    MALLOC_TRIM_THRESHOLD_=262144 \
    TILDE_HOST=0.0.0.0 \
    TILDE_PORT=8787 \
    TILDE_DATA=/data \
    HOME=/tmp
USER 65532:65532
VOLUME /data
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["/nodejs/bin/node", "/app/healthcheck.js"]
ENTRYPOINT ["/nodejs/bin/node", "--max-semi-space-size=16", "/app/node_modules/tildebase/bin/tildebase.js"]
