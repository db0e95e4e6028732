#!/bin/sh
# usage: install.sh DIR [--version 2.1.332]
# Put the pinned Claude Code into DIR (idempotent). It is a native program: Node is needed for npm alone, no script runs.
set -eu
VERSION=2.1.332
[ $# = 1 ] || { [ $# = 3 ] && [ "$2" = --version ]; } || { echo "usage: install.sh DIR [--version $VERSION]" >&2; exit 2; }
[ $# = 1 ] || [ "$3" = "$VERSION" ] || { echo "no recipe for Claude Code $3 (known: $VERSION)" >&2; exit 2; }
mkdir -p "$1" && cd "$1"
package=node_modules/@anthropic-ai/claude-code
have() { sed -n 's/^[[:space:]]*"version": "\(.*\)",*$/\1/p' "$package/package.json" 2> /dev/null | head -n 1; }
program() { ls node_modules/@anthropic-ai/claude-code-*/claude 2> /dev/null | head -n 1; }
if [ "$(have)" != "$VERSION" ] || [ -z "$(program)" ]; then
    command -v npm > /dev/null || { echo "npm is missing (any Node with npm will do)" >&2; exit 1; }
    rm -rf node_modules && echo '{"name":"client","version":"1.0.0","private":true}' > package.json
    npm install --ignore-scripts --no-audit --no-fund --save-exact "@anthropic-ai/claude-code@$VERSION"
fi
[ "$(have)" = "$VERSION" ] || { echo "wanted Claude Code $VERSION but npm installed '$(have)'" >&2; exit 1; }
[ -n "$(program)" ] || { echo "the native program did not arrive: is this platform supported?" >&2; exit 1; }
printf '{"agent": "claude-code", "version": "%s", "program": "%s"}\n' "$VERSION" "$(program)" > client.json
echo "Claude Code $VERSION in $PWD"
