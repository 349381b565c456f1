# With Compose, see compose.yaml. Without it:
#   docker build -t signalbox --build-arg SDKS=grammy .
#   echo "SIGNALBOX_TOKEN=$(openssl rand -base64 32)" > .env
#   docker run -d --name signalbox --init -p 127.0.0.1:4747:4747 --env-file .env -v signalbox:/home/node/.signalbox signalbox
#   docker exec signalbox signalbox link
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
# `init`, `config check` and the setup page then say how to add a package to the image.
ENV SIGNALBOX_IMAGE=1
RUN [ -z "${SDKS}" ] || (npm install --prefix / --no-audit --no-fund --loglevel=error ${SDKS} && npm cache clean --force)
COPY --from=build /gateway /gateway
# The command line, for `docker compose exec signalbox signalbox status`.
RUN printf '#!/bin/sh\nexec node /gateway/dist/signalbox.js "$@"\n' > /usr/local/bin/signalbox && chmod 755 /usr/local/bin/signalbox
COPY deploy/signalbox.yaml /usr/share/signalbox/signalbox.yaml
COPY deploy/entrypoint.sh /usr/local/bin/signalbox-entrypoint
# A volume takes its owner from the folder of the image. Several gateways share /workspaces.
RUN mkdir -p /home/node/.signalbox /workspaces/main \
 && chown -R node:node /home/node/.signalbox /workspaces \
 && chmod -R 700 /home/node/.signalbox /workspaces
USER node
VOLUME /home/node/.signalbox
EXPOSE 4747
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4747/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["signalbox-entrypoint"]
CMD ["start"]
