#!/usr/bin/env node
'use strict';
const { spawn } = require('node:child_process');
const { constants } = require('node:os');
const { command } = require('../lib/command.js');

const child = spawn(command, process.argv.slice(2), { stdio: 'inherit' });
// A signal that would end this process ends the command, which reports how it ended.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`wasinn: error: ${error.message}`);
  process.exit(125);
});
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
