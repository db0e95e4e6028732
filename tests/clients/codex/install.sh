#!/bin/sh
# usage: install.sh DIR [--version 0.171.0]
# Put the pinned Codex into DIR: a program of its own, which needs no Node to run (idempotent; about 430 MB).
set -eu
VERSION=0.171.0
[ $# = 1 ] || { [ $# = 3 ] && [ "$2" = --version ] && [ "$3" = "$VERSION" ]; } ||
    { echo "usage: install.sh DIR [--version $VERSION]" >&2; exit 2; }
mkdir -p "$1" && cd "$1"
program() { find node_modules/@openai -type f -name codex -perm -u+x 2> /dev/null | head -n 1; }
said() { [ -n "$(program)" ] && "$(program)" --version 2> /dev/null | sed 's/^.* //'; }
if [ "$(said)" != "$VERSION" ]; then
    command -v npm > /dev/null || { echo "npm is missing (any Node with npm will do)" >&2; exit 1; }
    echo '{"name":"codex-client","version":"1.0.0","private":true}' > package.json
    npm install --ignore-scripts --no-audit --no-fund --save-exact "@openai/codex@$VERSION"
fi
[ "$(said)" = "$VERSION" ] || { echo "wanted codex $VERSION but npm installed '$(said)'" >&2; exit 1; }
printf '{"agent": "codex", "version": "%s", "program": "%s"}\n' "$VERSION" "$(program)" > client.json
echo "codex $VERSION in $PWD"
