#!/bin/sh
# Installs the agents that the heavier suite runs, from npm, below a folder of their own:
#     sh tests/agents/install.sh /opt/agents
#     SOP_TEST_AGENTS=/opt/agents/node_modules/.bin cargo test -- worker::matrix run::three_agents
# These are the versions that the table in tests/worker/matrix/mod.rs and tests/run/three_agents.rs were
# last held to; newer ones may be asked for with AGENTS="opencode-ai@latest …".
set -eu
prefix=${1:?"where to: sh tests/agents/install.sh FOLDER"}
agents=${AGENTS:-"
    @anthropic-ai/claude-code@2.1.197
    @openai/codex@0.171.0
    @google/gemini-cli@0.61.0
    opencode-ai@1.18.33
    @zed-industries/codex-acp@0.16.0
    @zed-industries/claude-agent-acp@0.23.1
"}
mkdir -p "$prefix"
# The list is words on purpose.
# shellcheck disable=SC2086
npm install --prefix "$prefix" --no-audit --no-fund $agents
echo "SOP_TEST_AGENTS=$prefix/node_modules/.bin"
