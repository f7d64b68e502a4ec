#!/bin/sh
# Makes the secrets of compose.yaml, in the folder `secrets` or the one that is named; what is there
# already stays.
set -eu

folder=${1:-secrets}
umask 077
mkdir -p "$folder"
chmod 700 "$folder"

random() {
    od -An -N32 -tx1 /dev/urandom | tr -d ' \n'
}

if [ ! -e "$folder/SIFAKA_STATE_KEYS" ]; then
    random >"$folder/SIFAKA_STATE_KEYS"
fi
if [ ! -e "$folder/redis.conf" ]; then
    password=$(random)
    echo "requirepass $password" >"$folder/redis.conf"
    echo "redis://:$password@redis:6379/0" >"$folder/SIFAKA_STORE"
fi

# The folder keeps others out. The files are mounted into containers whose users are others.
chmod 644 "$folder"/*
