# docker compose up, or:
#   docker build -t signalbox --build-arg SDKS=grammy .
#   docker run -p 127.0.0.1:4747:4747 -e SIGNALBOX_TOKEN -e ANTHROPIC_API_KEY -v signalbox:/home/node/.signalbox signalbox
FROM node:26-bookworm-slim AS build
WORKDIR /src
COPY . .
# Fetches the pinned pnpm, installs and builds; then what the gateway needs at run time goes into a folder of its own.
RUN npm run --silent signalbox -- --version \
 && node .tools/node_modules/pnpm/bin/pnpm.mjs --filter @signalbox/gateway deploy --prod --legacy /gateway

FROM node:26-bookworm-slim
# Commands of agents run in bubblewrap. A container has to allow user namespaces for it, else `doctor` says that exec is off.
RUN apt-get update \
 && apt-get install -y --no-install-recommends bubblewrap ca-certificates \
 && rm -rf /var/lib/apt/lists/*
# SDKs of the platforms in use: found from the gateway's folder, which is under this one.
ARG SDKS=""
RUN [ -z "${SDKS}" ] || (npm install --prefix / --no-audit --no-fund --loglevel=error ${SDKS} && npm cache clean --force)
COPY --from=build /gateway /gateway
# The command line, for `docker compose exec signalbox signalbox status`.
RUN printf '#!/bin/sh\nexec node /gateway/dist/signalbox.js "$@"\n' > /usr/local/bin/signalbox && chmod 755 /usr/local/bin/signalbox
COPY --chown=node:node deploy/signalbox.yaml /home/node/.signalbox/signalbox.yaml
RUN chown node:node /home/node/.signalbox && chmod 700 /home/node/.signalbox && chmod 600 /home/node/.signalbox/signalbox.yaml
USER node
VOLUME /home/node/.signalbox
EXPOSE 4747
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4747/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/gateway/dist/signalbox.js"]
CMD ["start"]
