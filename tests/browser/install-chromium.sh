#!/usr/bin/env bash
# Installs Debian's Chromium and a Chinese font for the browser tests, where they are missing and one may (root, apt). Anywhere else it
# says so.
set -euo pipefail
missing="chromium fonts-dejavu-core"
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  command -v "$name" >/dev/null && missing="" && break
done
[ -n "$(fc-list :lang=zh 2>/dev/null)" ] || missing="$missing fonts-wqy-microhei"
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "Missing here, and installing it takes root and apt: $missing. Browser tests without Chromium cannot run." >&2
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -o Acquire::Retries=3 -qq update
# shellcheck disable=SC2086  # several packages
apt-get -o Acquire::Retries=3 -qq install -y --no-install-recommends $missing >/dev/null
