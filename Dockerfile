# docker build --build-arg USER_ID="$(id -u)" -t shoal .
# docker run --rm -v "$PWD:/data" shoal anonymize table.csv --settings job.toml -o release.csv
ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
WORKDIR /source
COPY pyproject.toml constraints.txt LICENSE NOTICE ./
COPY src src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels . \
 && python -m venv /opt/shoal \
 && /opt/shoal/bin/pip install --no-cache-dir --constraint constraints.txt "$(ls /wheels/*.whl)[excel]"

FROM python:${PYTHON}-slim
ARG USER_ID=1000
RUN useradd --create-home --uid "${USER_ID}" shoal
COPY --from=build /opt/shoal /opt/shoal
ENV PATH=/opt/shoal/bin:$PATH
USER shoal
# Kernels are kept in this user's home, for the processor that builds the image.
RUN shoal compile
WORKDIR /data
ENTRYPOINT ["shoal"]
CMD ["--help"]
