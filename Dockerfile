FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# No scripts: the only one would fetch a second Node.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json rolldown.config.ts ./
COPY build build
COPY src src
RUN npm run build

FROM node:24-bookworm-slim
LABEL org.opencontainers.image.title="dashkeep" \
  org.opencontainers.image.description="Scheduled, provable backups of the saved objects of hosted Kibana accounts" \
  org.opencontainers.image.licenses="Apache-2.0"
# Young objects in little room halve the time of a large export and its memory. One arena for malloc:
# an arena for each thread keeps what others have freed, 15 MB at a large export. A worker listens on
# loopback by default, which nobody reaches from outside of a container.
ENV NODE_ENV=production NODE_OPTIONS="--max-semi-space-size=2 --max-old-space-size=128" NODE_COMPILE_CACHE=/app/compile-cache MALLOC_ARENA_MAX=1 DASHKEEP_LISTEN=0.0.0.0:5337
WORKDIR /app
COPY LICENSE package.json ./
COPY --from=build /build/dist dist
RUN ln -s /app/dist/main.js /usr/local/bin/dashkeep && install -d -o 10001 -g 10001 compile-cache
# No name needed: Kubernetes' runAsNonRoot looks at the number.
USER 10001:10001
# Node takes compiled code only from the same user under the same options, so this user fills the cache:
# with all chunks but the main one, which runs the command line, and then with that one.
RUN ["node", "--eval", "for (const file of fs.readdirSync('dist/program')) if (!file.startsWith('main-')) import('/app/dist/program/' + file)"]
RUN ["dashkeep", "--version"]
# Asks a worker at DASHKEEP_LISTEN; other commands count as healthy while they run.
HEALTHCHECK --interval=60s --timeout=10s --start-period=20s CMD ["node", "dist/health.js"]
# One process without a shell, so signals reach it.
ENTRYPOINT ["dashkeep"]
