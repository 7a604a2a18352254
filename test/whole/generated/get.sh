#!/bin/sh
# Fetches generators of clients, and what their clients are made with, into a folder, for the suite's
# setting GENERATORS; it needs Maven, Go and Python. Nothing of it is part of the project.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/go"
cd "$1"
mvn -q -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$PWD/java"
(
  cd go
  GOBIN="$PWD" go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2
  [ -f go.mod ] || go mod init market
  go get github.com/oapi-codegen/runtime@v1.9.0 github.com/google/uuid@v1.6.0
)
python3 -m venv python
python/bin/pip install -q openapi-python-client==0.29.1 python-dateutil
