#!/usr/bin/env bash
# Installs Debian's Chromium for the browser tests, where there is none and one may (root, apt). Anywhere else it says so.
set -euo pipefail
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  command -v "$name" >/dev/null && exit 0
done
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "No Chromium here, and installing it takes root and apt: the browser tests cannot run." >&2
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -o Acquire::Retries=3 -qq update
apt-get -o Acquire::Retries=3 -qq install -y --no-install-recommends chromium fonts-dejavu-core >/dev/null
