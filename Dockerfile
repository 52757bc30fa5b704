# See docs/deploy.md, which also explains how to pin the image by its digest.
FROM node:24.21.0-trixie-slim

ENV NODE_ENV=production DATA_DIR=/data
WORKDIR /site

# No package needs its install script, because bcrypt and better-sqlite3 contain their binaries.
COPY package.json package-lock.json ./
COPY src/auth/package.json src/auth/
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force

COPY public public
COPY views views
COPY src src

# With PostgreSQL, the site writes nothing into /data.
RUN install -d -o node -g node -m 700 /data && install -d -o node -g node node_modules/.cache
VOLUME /data

# The path of Node's code cache contains the user id, so the user `node` must fill the cache. Then root owns the
# cache, so that the site cannot change its own code.
USER node
RUN ["node", "src/start.js", "serving"]
USER root
RUN chown -R root:root node_modules/.cache && chmod -R u=rwX,go=rX node_modules/.cache

USER node
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/start.js", "server"]
