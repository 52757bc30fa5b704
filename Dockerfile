# The site, for `compose.yaml` or any other way to run containers: docs/deploy.md.
FROM node:24-slim

ENV NODE_ENV=production DATA_DIR=/data
WORKDIR /site

# PostgreSQL's driver is among what is installed, and the binaries of bcrypt and SQLite come with their packages: none of
# their scripts has to run.
COPY package.json package-lock.json ./
COPY src/auth/package.json src/auth/
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force

COPY public public
COPY views views
COPY src src

# For SQLite. With PostgreSQL nothing is written anywhere, and all of the container may be read-only.
RUN install -d -o node -g node -m 700 /data node_modules/.cache
VOLUME /data

USER node
# What is compiled now is not compiled at each start.
RUN ["node", "src/start.js", "compile"]
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/start.js", "server"]
