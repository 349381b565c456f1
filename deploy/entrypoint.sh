#!/bin/sh
# Runs a command of the gateway. A new home gets a configuration that listens for the container's host.
set -eu
home="${SIGNALBOX_HOME:-$HOME/.signalbox}"
found=no
for name in signalbox.yaml signalbox.yml signalbox.json signalbox.json5; do
  if [ -e "$home/$name" ]; then found=yes; fi
done
if [ "$found" = no ]; then
  mkdir -p "$home"
  cp /usr/share/signalbox/signalbox.yaml "$home/signalbox.yaml"
  chmod 600 "$home/signalbox.yaml"
fi
exec node /gateway/dist/signalbox.js "$@"
