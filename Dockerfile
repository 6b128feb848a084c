FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# No install scripts: the only one would download a second Node.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json rolldown.config.ts ./
COPY build build
COPY src src
RUN npm run build

FROM node:24-bookworm-slim AS program
# A small space for young objects frees buffers soon, so a large export takes half the memory. Node would
# fill all memory of the container with old objects, and be killed before it collects them. With one
# arena per thread, malloc would keep 15 MB of freed memory. A worker listens on loopback by default,
# which cannot be reached from outside the container.
ENV NODE_ENV=production NODE_OPTIONS="--max-semi-space-size=1 --max-old-space-size-percentage=50" NODE_COMPILE_CACHE=/app/compile-cache MALLOC_ARENA_MAX=1 DASHKEEP_LISTEN=0.0.0.0:5337
WORKDIR /app
COPY LICENSE package.json ./
COPY --from=build /build/dist dist
RUN ln -s /app/dist/main.cjs /usr/local/bin/dashkeep

# Node looks for the cache under the number of the user that runs it.
FROM program AS compiled
COPY build/fill-compile-cache.sh ./
RUN install -d -o 10001 "$NODE_COMPILE_CACHE"
USER 10001:10001
RUN sh fill-compile-cache.sh dist/main.cjs && chmod -R a+rX "$NODE_COMPILE_CACHE"

FROM program
# Belongs to root: who can write it decides which code runs.
COPY --from=compiled --chown=0:0 /app/compile-cache compile-cache
# Kubernetes' runAsNonRoot needs a number, not a name.
USER 10001:10001
# The check requests /healthz of commands that serve HTTP (worker, web, status --listen). Other commands
# are healthy while they run.
HEALTHCHECK --interval=60s --timeout=10s --start-period=20s CMD ["node", "dist/health.cjs"]
# dashkeep runs without a shell, so that signals reach it.
ENTRYPOINT ["dashkeep"]
# The arguments come last, so that a new value does not rebuild the layers above.
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="dashkeep" \
  org.opencontainers.image.description="Scheduled, provable backups of the saved objects of hosted Kibana accounts" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$REVISION" \
  org.opencontainers.image.source="$SOURCE"
