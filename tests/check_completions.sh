#!/bin/sh
# The completions in the shells that they are for. TAP.
set -u
srcdir=$(cd "${srcdir:-$(dirname "$0")/..}" && pwd) || exit 1

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# No shell may find a configuration, or leave one.
HOME=$work
XDG_CONFIG_HOME=$work
XDG_DATA_HOME=$work
export HOME XDG_CONFIG_HOME XDG_DATA_HOME
timeout 600 python3 "$srcdir/tests/completions.py" "$srcdir/completions"
