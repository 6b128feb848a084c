FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# No scripts: the only one would fetch a second Node.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json rolldown.config.ts ./
COPY build build
COPY src src
COPY test/s3-server test/s3-server
RUN npm run build

FROM node:24-bookworm-slim
LABEL org.opencontainers.image.title="dashkeep" \
  org.opencontainers.image.description="Scheduled, provable backups of the saved objects of hosted Kibana accounts" \
  org.opencontainers.image.licenses="Apache-2.0"
# One arena for malloc: each thread's own keeps what others have freed, 15 MB at a large export.
# A worker listens on loopback by default, which nobody reaches from outside of a container.
ENV NODE_ENV=production MALLOC_ARENA_MAX=1 DASHKEEP_LISTEN=0.0.0.0:5337
WORKDIR /app
COPY LICENSE package.json ./
COPY --from=build /build/dist dist
COPY build/dashkeep /usr/local/bin/dashkeep
# No name needed: Kubernetes' runAsNonRoot looks at the number.
USER 10001:10001
# Asks a worker at DASHKEEP_LISTEN; any other verb is healthy while it runs.
HEALTHCHECK --interval=60s --timeout=10s --start-period=20s CMD ["node", "/app/dist/health.js"]
# The script replaces itself with Node, so there is one process, and signals reach it. The same command
# serves `docker exec` and `kubectl exec`.
ENTRYPOINT ["dashkeep"]
