#!/bin/sh
# usage: install.sh DIR [--version 0.1.0-rc.8]
# Put the pinned dsh client, and the Node 24 and pnpm that it needs, into DIR (idempotent; about two minutes, 480 MB).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
NODE_VERSION=24.22.3 PNPM_VERSION=10.34.9 DSH_VERSION=0.1.0-rc.8
[ $# = 1 ] || { [ $# = 3 ] && [ "$2" = --version ]; } || { echo "usage: install.sh DIR [--version $DSH_VERSION]" >&2; exit 2; }
[ $# = 1 ] || [ "$3" = "$DSH_VERSION" ] || { echo "no recipe for dsh $3 (known: $DSH_VERSION)" >&2; exit 2; }
case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) os=linux-x64 ;;
    Linux-aarch64) os=linux-arm64 ;;
    Darwin-x86_64) os=darwin-x64 ;;
    Darwin-arm64) os=darwin-arm64 ;;
    *) echo "no Node package for this machine" >&2; exit 1 ;;
esac
command -v npm > /dev/null || { echo "npm is missing (any Node with npm will do for the start)" >&2; exit 1; }
mkdir -p "$1" && cd "$1"

# npm's `node` package only fetches node-<os>-<arch> from a script, so take that package itself: no scripts run here.
node=tools/node_modules/node-$os/bin/node
if [ "$("$node" --version 2> /dev/null)" != "v$NODE_VERSION" ]; then
    mkdir -p tools && echo '{"name":"tools","version":"1.0.0","private":true}' > tools/package.json
    (cd tools && npm install --ignore-scripts --no-audit --no-fund --save-exact \
        "node-$os@$NODE_VERSION" "pnpm@$PNPM_VERSION")
fi
[ "$("$node" --version)" = "v$NODE_VERSION" ] || { echo "Node $NODE_VERSION did not install" >&2; exit 1; }

# A plain npm install of dsh does not finish (its peers), and its ranges pull newer packages that do not fit: all of
# dsh's own packages are pinned in package.json.
have() { sed -n 's/^[[:space:]]*"version": "\(.*\)",*$/\1/p' client/node_modules/@deepseek-ai/dsh/package.json 2> /dev/null | head -n 1; }
if ! cmp -s "$here/package.json" client/.done; then
    mkdir -p client && cp "$here/package.json" client/package.json
    (cd client && PATH="$PWD/../tools/node_modules/node-$os/bin:$PATH" \
        node ../tools/node_modules/pnpm/bin/pnpm.cjs install --ignore-scripts --config.node-linker=hoisted \
        --config.confirm-modules-purge=false)
    cp "$here/package.json" client/.done
fi
[ "$(have)" = "$DSH_VERSION" ] || { echo "wanted dsh $DSH_VERSION but pnpm installed '$(have)'" >&2; exit 1; }
printf '{"agent": "dsh", "version": "%s", "node": "%s", "modules": "client/node_modules"}\n' "$DSH_VERSION" "$node" > client.json
echo "dsh $DSH_VERSION on node $NODE_VERSION in $PWD"
