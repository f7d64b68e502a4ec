# The MCP server over HTTP. It listens to other machines, so it starts only when it is told whom to
# let in; without, it says so and ends:
#   docker build -t sifaka-mcp .
#   docker run --rm -v sifaka:/data --entrypoint sifaka sifaka-mcp token NAME --auth-tokens-file /data/tokens
#   docker run -p 127.0.0.1:8000:8000 -v sifaka:/data -e SIFAKA_AUTH_TOKENS_FILE=/data/tokens sifaka-mcp

FROM python:3.12-slim AS build
ENV UV_PROJECT_ENVIRONMENT=/opt/sifaka \
    UV_PYTHON_DOWNLOADS=never \
    UV_LINK_MODE=copy \
    UV_COMPILE_BYTECODE=1
RUN pip install --no-cache-dir uv==0.13.8
WORKDIR /src
# For the clients of providers and stores: --build-arg EXTRAS="--extra openai --extra redis"
ARG EXTRAS=""
# The dependencies first: this layer stays as long as the lock does.
COPY pyproject.toml uv.lock ./
RUN uv sync --frozen --no-dev --no-install-project ${EXTRAS}
COPY README.md LICENSE ./
COPY sifaka ./sifaka
COPY server ./server
RUN uv sync --frozen --no-dev --no-editable ${EXTRAS}

FROM python:3.12-slim
RUN useradd --system --uid 10001 --no-create-home --home-dir /data sifaka \
    && install --directory --owner=sifaka --mode=0700 /data
COPY --from=build /opt/sifaka /opt/sifaka
ENV PATH=/opt/sifaka/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    SIFAKA_HOME=/data
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
    CMD ["python", "-c", "from http.client import HTTPConnection as C; c = C('127.0.0.1', 8000, timeout=4); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status != 200)"]
ENTRYPOINT ["sifaka-mcp"]
CMD ["--transport", "http", "--host", "0.0.0.0", "--port", "8000"]
